//! Applying operators to tensors: random ones, with entries that kernels generate, and explicit matrices.

mod call;
mod explicit;
mod pinned;
mod random;
mod seeded;

pub use explicit::ExplicitSketch;
pub use pinned::{apply_dense, apply_hadamard, staged_product};
pub use seeded::SeededSketch;
