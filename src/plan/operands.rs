//! The operands that a plan takes.

use crate::layout::{DType, Layout};

/// The use of a buffer by an operation or a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes every element, and reads no element that it has not written.
    Write,
    /// It reads and writes elements, or writes only some of them.
    Update,
}

/// An operand that a plan takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name that errors use.
    pub name: &'static str,
    /// The element type.
    pub dtype: DType,
    /// The layout, with its offset counted from the start of the operand's aligned window. Axes may have been merged.
    pub layout: Layout,
    /// How the operation uses the operand.
    pub access: Access,
}

impl Parameter {
    /// Size in bytes of a new buffer for this operand.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.layout.bytes(self.dtype).end
    }
}
