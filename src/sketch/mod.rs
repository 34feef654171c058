//! Sketching: random operators that map long vectors to short ones and preserve norms; factorisations and layers that
//! use them.
//!
//! | to | call |
//! |---|---|
//! | multiply by a random operator that is never stored | [`Sketch`]; with its seed in a tensor [`SeededSketch`] |
//! | multiply by a stored operator | [`ExplicitSketch`] |
//! | factorise a matrix | [`rsvd`], [`cqrrpt`], [`range`]; with options [`Rsvd`], [`Cqrrpt`], [`RangeFinder`] |
//! | solve, factorise or diagonalise small matrices | [`solve`], [`cholesky`], [`eigh`] |
//! | solve least squares, and estimate a trace | [`lstsq`], [`Lstsq`], [`trace`] |
//! | compress a layer, a convolution, and a model file | [`SkLinear`], [`SkConv2d`], [`recommend_rank`], [`Compress`], [`expand`] |
//!
//! Without the feature `factorisations`, and in a browser, the module has operators, and layers that are random, loaded
//! from files or built from their factors. Functions that factorise a matrix, or fit a layer to a weight, are left out.

pub(crate) mod apply;
#[cfg(all(feature = "factorisations", feature = "safetensors", not(target_arch = "wasm32")))]
mod compress;
pub(crate) mod dense;
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
mod factor;
pub(crate) mod hadamard;
pub(crate) mod layer;
mod operator;
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
mod rank;
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
mod small;
pub(crate) mod sparse;

pub use apply::{ExplicitSketch, SeededSketch};
#[cfg(all(feature = "factorisations", feature = "safetensors", not(target_arch = "wasm32")))]
pub use compress::{Compress, Compressed, CompressedLayer, Selection, WeightOrder, expand};
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
pub use factor::{
    Cqrrpt, LeastSquares, Lstsq, PivotedQr, RangeFinder, Rsvd, Svd, Timings, TraceEstimate, cqrrpt, lstsq,
    range, rsvd, trace,
};
pub use layer::{
    FittedConv, FittedLayer, SignStorage, SkConv2d, SkConv2dBuilder, SkLinear, SkLinearBuilder,
    SkLinearForward,
};
pub use operator::{
    Direction, MAX_HADAMARD_LENGTH, MAX_NONZEROS, Scaling, Sketch, SketchKind, SparseAxis, philox,
};
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
pub use rank::{Budget, Choice, RankRecommendation, recommend_rank};
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
pub use small::{Eigen, cholesky, eigh, solve};
