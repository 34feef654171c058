//! Small dense matrices, in batches: read from the device, factorised on the CPU in f64, and written back, rounded once.

mod cholesky;
mod eigh;
mod matrix_batch;
mod solve;

pub use cholesky::cholesky;
pub use eigh::{Eigen, eigh};
pub use solve::solve;
