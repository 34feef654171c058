//! Linear layers of multivectors: forward, backward pass and gradient descent.
//!
//! There is no kernel here: [`crate::gemm`] computes the matrix products, one for each [`BladeMap`](blade_map).

mod backward;
pub(crate) mod blade_map;
mod builder;
mod mv_linear;

pub use blade_map::BiasOn;
pub use builder::MvLinearBuilder;
pub use mv_linear::MvLinear;
