//! Applying operators to tensors: random ones, whose entries are generated in the kernels, and explicit matrices.

mod explicit;
mod pinned;
mod random;

pub use explicit::ExplicitSketch;
pub use pinned::{apply_dense, apply_hadamard, staged_product};
