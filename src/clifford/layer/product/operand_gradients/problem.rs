//! The gradients of a fully connected product with respect to its operands: the checked problem, as plain data.

use super::super::pairs::pairs;
use super::terms::terms;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::layer::gate::Gate;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::layout::{DType, Layout, dim};
use crate::{Error, Result};

pub(super) const OP: &str = "LayerProduct::connected";

/// The uniform of `shaders/clifford/operand_gradients.wgsl`, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct OperandGradientsDims {
    pub positions: u32,
    pub features: u32,
    pub first: u32,
    pub plane: u32,
    pub x_offset: u32,
    pub x_blade: u32,
    pub x_row: u32,
    pub x_feature: u32,
    pub y_offset: u32,
    pub y_blade: u32,
    pub y_row: u32,
    pub y_feature: u32,
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
