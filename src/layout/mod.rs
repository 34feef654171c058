//! Element types, shapes and strides, windows of buffers, and numerical precision.

mod axes;
mod broadcast;
mod element;
mod fill;
mod fp8;
mod match_layout;
mod nearest;
mod overflow;
mod precision;
mod random;
mod strided;
mod values;
mod window;

pub(crate) use axes::{Axes, Axis, merged_together};
pub use element::{DType, Element, Float, Operand, Quantised, Real, Summand};
pub use fill::Fill;
pub(crate) use fill::NORMAL_TAG;
pub use fp8::{F8E4M3, F8E5M2};
pub use overflow::Overflow;
pub use precision::Precision;
pub use random::philox;
pub(crate) use random::{ONE, below, normal, table as normal_table, words};
pub use strided::Layout;
pub(crate) use strided::MAX_RANK;
pub(crate) use values::bits;
pub(crate) use window::{ALIGNED_BYTES, WINDOW_ALIGNMENT, dim, known, window};
