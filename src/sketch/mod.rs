//! Sketching: random operators that make few numbers of many and keep what matters, and what is built on them.

#[cfg(not(target_arch = "wasm32"))]
mod advise;
mod along;
mod apply;
#[cfg(not(target_arch = "wasm32"))]
mod budget;
#[cfg(all(feature = "safetensors", not(target_arch = "wasm32")))]
mod compress;
mod dense;
#[cfg(not(target_arch = "wasm32"))]
mod factor;
mod given;
mod hadamard;
mod layer;
mod normal;
mod normal_table;
mod operator;
mod philox;
mod sparse;
#[cfg(not(target_arch = "wasm32"))]
mod spectrum;

#[cfg(not(target_arch = "wasm32"))]
pub use advise::{Advice, Choice, advise};
pub use apply::Way;
#[cfg(not(target_arch = "wasm32"))]
pub use budget::Budget;
#[cfg(all(feature = "safetensors", not(target_arch = "wasm32")))]
pub use compress::{Compress, Compressed, CompressedLayer, Progress, Select, Step};
pub use dense::{DenseProblem, dense_as, staged_as};
#[cfg(not(target_arch = "wasm32"))]
pub use factor::{
    Cqrrpt, LeastSquares, Lstsq, PivotedQr, RangeFinder, Rsvd, Svd, Timings, TraceEstimate, cqrrpt, lstsq,
    range, rsvd, trace,
};
pub use given::Given;
pub use hadamard::{
    HadamardDims, HadamardLanes, HadamardPass, HadamardProblem, HadamardSource, HadamardTarget, HadamardTile,
    hadamard_as,
};
pub use layer::{ParameterGradients, SignMemory, SkLinear, SkLinearBuilder, Sketched};
pub use operator::{HADAMARD_AT_MOST, NONZEROS_AT_MOST, Scaling, Sketch, SketchKind, SparseAxis};
pub use philox::philox;
pub use sparse::{SparseDims, SparseForm, SparseProblem};
