//! Matrix products, checked: what to compute, as plain data.

mod dims;
mod epilogue;
mod gemm;
mod generated;
mod layouts;
mod of_windows;
mod operands;
mod options;
mod quantised;
mod scalars;
mod seed;
mod segments;
mod split_k;
mod tile;
mod types;

pub use dims::{GemmDims, QuantisedDims, SeededDims, SegmentDims, WindowDims};
pub use epilogue::{BiasAxis, Epilogue, LineScale, Previous, Scale};
pub use gemm::{GemmProblem, MAX_I8_K, product_shape};
pub(in crate::gemm) use generated::Generated;
pub use generated::{Distribution, GeneratedOperand, HalfAxis, HalfPosition, OuterAxis, SignHalf};
pub(crate) use generated::{ImageWindows, WindowB};
pub(in crate::gemm) use layouts::{Layouts, MatrixLayout};
pub(crate) use scalars::Numbers;
pub(in crate::gemm) use scalars::{ALPHA, BETA, OUT_SCALE};
pub use seed::SeedSource;
pub(in crate::gemm) use segments::{Gated, PlaneSource, SEGMENT_MULTIPLE, Segments};
pub(in crate::gemm) use split_k::{MAX_SPLITS, max_splits, scratch_bytes};
pub use tile::{GemmKernel, Pin, SplitK, Tile};
pub use types::{Accumulator, GemmTypes, Side};
pub(in crate::gemm) use types::{MAX_F16_PRODUCTS, OP};
