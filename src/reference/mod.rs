//! Definitions of the operations in f64, as plain loops, and the error bounds that the kernels satisfy. Applications
//! can test against them.

mod activation;
mod bounds;
mod cqrrpt;
mod elements;
mod form;
mod gemm;
mod layer_product;
mod mv_features;
mod mv_linear;
mod precision;
mod running;
mod sk_linear;

pub use activation::{
    activate, activation_lipschitz, activation_slope, activation_tolerance, slope_tolerance,
};
pub use bounds::{Comparison, STEP, compare, gamma, gamma_f16, store_tolerance, sum_tolerance, tolerance};
pub use cqrrpt::{PivotedReference, cqrrpt_core};
pub use elements::{
    Definition, activations, activations_backward, add, max_abs, mul, softmax, sub, sum, sum_squares,
};
pub use form::Form;
pub use gemm::{GemmReference, gemm, gemm_entries, projection};
pub use layer_product::{LayerProductGradients, LayerProductReference};
pub use mv_features::{MvFeaturesReference, MvFeaturesValues};
pub use mv_linear::{MvLinearReference, MvLinearValues};
pub use precision::{Halves, halves, precision_tolerance};
pub use running::{Running, RunningGradients};
pub use sk_linear::{SkLinearGradients, SkLinearReference};
