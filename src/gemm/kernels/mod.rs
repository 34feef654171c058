//! The kernels of matrix products, one file each. To add one, add its file, a variant of `GemmKernel`, and its line in
//! `table.rs`.

mod coop;
mod cost;
mod dot;
mod gemv;
mod generated;
mod naive;
mod reduce;
mod segments;
mod spec;
mod stage;
mod staged;
mod store;
mod table;
mod tiled;
mod uniform;
mod unit_loads;

pub(in crate::gemm) use cost::Unit;
pub(crate) use reduce::reduce_splits;
pub(in crate::gemm) use reduce::{needs, seconds, step};
