//! The gradients of a fully connected product with respect to its operands: the checked problem, as plain data.

use super::super::pairs::pairs;
use super::terms::terms;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::layer::gate::Gate;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim};
use crate::{Error, Result};

pub(super) const OP: &str = "LayerProduct::connected";

shader_dims! {
    /// The uniform of `shaders/clifford/operand_gradients.wgsl`, in elements.
    pub struct OperandGradientsDims {
        /// of T
        positions: u32,
        /// of a row
        features: u32,
        /// position in X, Y, U and V of the first position of T
        first: u32,
        /// positions of U and V
        plane: u32,
        x_offset: u32,
        /// strides of X, in elements
        x_blade: u32,
        x_row: u32,
        x_feature: u32,
        y_offset: u32,
        y_blade: u32,
        y_row: u32,
        y_feature: u32,
    }
}

/// The gradients of some rows of a fully connected product with respect to its operands, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperandGradientsProblem {
    /// The shader's uniform.
    pub(crate) dims: OperandGradientsDims,
    /// The element type of the operands.
    pub(crate) dtype: DType,
    pub(super) gate: Gate,
    /// The function of the kernel, in words.
    pub(super) description: String,
    /// The generated shader code.
    pub(super) terms: String,
    /// Number of matrices in T: pairs of a blade and a path.
    pub(super) pairs: usize,
    /// Arithmetic operations at a position.
    pub(super) flops: usize,
    /// The layouts of X, Y and either gradient, (blade, row, feature).
    pub(super) layouts: [Layout; 3],
}

impl OperandGradientsProblem {
    /// The gradients of `rows` rows from row `first` on. The operands are (blade, row, feature), both of one shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the operands have fewer rows; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub(in super::super) fn new(
        product: &LayerProduct,
        blades: &Blades,
        [x, y]: &[Layout; 2],
        dtype: DType,
        [first, rows]: [usize; 2],
    ) -> Result<Self> {
        let [all, features] = [x.shape()[1], x.shape()[2]];
        if first.checked_add(rows).is_none_or(|end| end > all) {
            let rule = "the rows must be those of the product";
            return Err(Error::shapes(OP, rule, &[first, rows], &[all]));
        }
        let stride = |layout: &Layout, axis| dim(OP, layout.strides()[axis]);
        dim(OP, blades.len() * all * features)?;
        let dims = OperandGradientsDims {
            positions: dim(OP, rows * features)?,
            features: dim(OP, features)?,
            first: dim(OP, first * features)?,
            plane: dim(OP, all * features)?,
            x_offset: x.offset_in_window(dtype),
            x_blade: stride(x, 0)?,
            x_row: stride(x, 1)?,
            x_feature: stride(x, 2)?,
            y_offset: y.offset_in_window(dtype),
            y_blade: stride(y, 0)?,
            y_row: stride(y, 1)?,
            y_feature: stride(y, 2)?,
        };
        let pairs = pairs(blades)?;
        let gradient = Layout::contiguous(OP, &[blades.len(), all, features])?;
        let terms = terms(product, blades, &pairs);
        let LayerProduct { signature, gate, .. } = *product;
        Ok(Self {
            dims,
            dtype,
            gate,
            description: format!("gradients of {signature}, {} matrices, {gate} gate", pairs.len()),
            terms: terms.to_string(),
            pairs: pairs.len(),
            flops: terms.flops(),
            layouts: [*x, *y, gradient],
        })
    }
}
