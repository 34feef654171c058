//! Element types, shapes and strides, windows of buffers, and numerical precision.

mod element;
mod fill;
mod match_layout;
mod overflow;
mod precision;
mod strided;
mod window;

pub use element::{DType, Element, Operand, Real, Summand};
pub use fill::Fill;
pub use overflow::Overflow;
pub use precision::Precision;
pub use strided::{Layout, MAX_RANK};
pub(crate) use window::{WINDOW_ALIGNMENT, dim, window};
