//! What some rows of a fully connected product hand back to its operands, checked: what to compute, as plain data.

use super::kernel::text;
use crate::clifford::layer::connected::problem::{ConnectedProblem, OP};
use crate::layout::{DType, Layout, dim};
use crate::{Error, Result};

/// The uniform of `shaders/clifford/connected_back.wgsl`, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct ConnectedBackDims {
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

/// What some rows of a fully connected product hand back to its operands, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedBackProblem {
    /// The sizes, as the shader has them.
    pub(crate) dims: ConnectedBackDims,
    /// The operands' type.
    pub(crate) dtype: DType,
    pub(super) gate: &'static str,
    pub(super) what: String,
    pub(super) text: String,
    pub(super) pairs: usize,
    /// Arithmetic operations at a position.
    pub(super) flops: usize,
    /// Where X, Y and either gradient lie, (blade, row, feature).
    pub(super) layouts: [Layout; 3],
}

impl ConnectedBackProblem {
    /// Of so many rows from `first` on.
    ///
    /// # Errors
    /// [`Error::Shape`] if the product has fewer rows; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(product: &ConnectedProblem, [first, rows]: [usize; 2]) -> Result<Self> {
        let [blades, all, features, _] = product.sizes();
        if first.checked_add(rows).is_none_or(|end| end > all) {
            let rule = "the rows must be those of the product";
            return Err(Error::shapes(OP, rule, &[first, rows], &[all]));
        }
        let [x, y] = &product.operands;
        let stride = |layout: &Layout, axis| dim(OP, layout.strides()[axis]);
        dim(OP, blades * all * features)?;
        let dims = ConnectedBackDims {
            positions: dim(OP, rows * features)?,
            features: dim(OP, features)?,
            first: dim(OP, first * features)?,
            plane: dim(OP, all * features)?,
            x_offset: x.offset_in_window(product.dtype),
            x_blade: stride(x, 0)?,
            x_row: stride(x, 1)?,
            x_feature: stride(x, 2)?,
            y_offset: y.offset_in_window(product.dtype),
            y_blade: stride(y, 0)?,
            y_row: stride(y, 1)?,
            y_feature: stride(y, 2)?,
        };
        let pairs = product.pairs()?;
        let gradient = Layout::contiguous(OP, &[blades, all, features])?;
        let text = text(product, &pairs);
        Ok(Self {
            dims,
            dtype: product.dtype,
            gate: product.product.gate.variant(),
            what: format!(
                "gradients of {}, {} matrices, {} gate",
                product.product.signature,
                pairs.len(),
                product.product.gate
            ),
            text: text.to_string(),
            pairs: pairs.len(),
            flops: text.flops(),
            layouts: [*x, *y, gradient],
        })
    }
}
