//! Activations of multivectors. [`features`](super::features) computes them.

mod mv_silu;

pub use mv_silu::MvSilu;
