//! The layouts of the operands of a norm.

use crate::layout::Layout;

/// The layouts of a norm's operands.
#[derive(Clone, Copy, Debug)]
pub struct NormLayouts<'a> {
    /// The operand: rows along the last axis, or (outer, inner, channels).
    pub a: &'a Layout,
    /// In a forward pass the residual, which is added to `a` first; in a backward pass the gradient of the result.
    pub b: Option<&'a Layout>,
    /// The weights of a row or of the channels, contiguous.
    pub gamma: Option<&'a Layout>,
    /// The offsets of a row or of the channels, contiguous.
    pub beta: Option<&'a Layout>,
}
