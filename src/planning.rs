//! The library's decisions as plain data: problems, plans, kernels, and devices to plan for. **Unstable**: for tests, tools
//! and benchmarks; it may change in any release.
//!
//! A [`Problem`] says what to compute. With a device's [`Caps`](crate::Caps) it gives a [`Plan`]: the steps that run, printable
//! and testable without a GPU.
//! ```
//! # fn main() -> tilewise::Result<()> {
//! use tilewise::planning::ops::{SoftmaxFunction, SoftmaxProblem};
//! use tilewise::planning::{Problem, fixtures};
//! use tilewise::{DType, Layout};
//!
//! let rows = Layout::contiguous("example", &[4096, 4096])?;
//! let problem = SoftmaxProblem::new(SoftmaxFunction::Softmax, &rows, None, 1, DType::F16)?;
//! println!("{}", problem.plan(&fixtures::h200())?);
//! # Ok(())
//! # }
//! ```

pub use crate::caps::fixtures;
pub use crate::plan::{
    Access, Arg, Bound, Buffer, Constant, Flops, Parameter, Plan, Problem, Scalar, ScalarKind,
    ScalarParameter, Step, TimeSource, Tolerance, Trial, TrialRun, TrialValues, Work,
};

/// Kernels: shaders, their specialisation, and the limits that they need.
pub mod kernel {
    pub use crate::gpu::execute::compile;
    pub use crate::kernel::{
        INCLUDES, Include, KERNELS, Kernel, Language, MODULES, Needs, ShaderInterface, UnrollError,
        fold_grid, module_needs, shader_interface, specialized, unroll,
    };
}

/// The files that a [`Gpu`](crate::Gpu) caches across runs. Each is sealed with a digest, and a damaged file is not read.
pub mod cache {
    pub use crate::gpu::cache_file::{seal, unseal};
    pub use crate::gpu::sealed_text::{seal_text, unseal_text};
    pub use crate::gpu::tuning_file::{parse_tuning, tuning_lines};
}

/// Attention as plain data.
pub mod attention {
    pub use crate::attention::backward::problem::{
        AttentionBackward, AttentionBackwardDims, AttentionDeltaDims, AttentionGradientsOf,
    };
    pub use crate::attention::problem::{
        AttentionDims, AttentionLayouts, AttentionProblem, AttentionStatistics,
    };
    pub use crate::attention::range::{AttentionCorner, AttentionRange};
}

/// Convolutions as plain data.
pub mod conv {
    pub use crate::conv::backward::problem::{ConvBackward, ConvBackwardDims, ConvGradientOf};
    pub use crate::conv::problem::{ConvDims, ConvKernels, ConvLayouts, ConvProblem};
    pub use crate::conv::quantised_problem::QuantisedConvProblem;
}

/// Matrix products as plain data: problems, element types, epilogues, generated operands, pins and uniforms.
pub mod gemm {
    pub use crate::gemm::f16_split::{
        F16Split, F16SplitDims, F16SplitProblem, NON_FINITE_EXPONENT, f16_split,
    };
    pub use crate::gemm::kernels::InnerLoop;
    pub use crate::gemm::problem::{
        BiasAxis, Distribution, Epilogue, GemmDims, GemmProblem, GemmTypes, GeneratedOperand, HalfAxis,
        HalfPosition, LineScale, MAX_I8_K, OuterAxis, Pin, Previous, QuantisedDims, Scale, SeedSource,
        SeededDims, SegmentDims, Side, SignHalf, WindowDims, product_shape,
    };
    pub use crate::gemm::segments::SegmentedProblem;
}

/// Multiply-adds that measure the peak rates of a device, and the rates.
pub mod peak {
    pub use crate::caps::MeasuredRates;
    pub use crate::peak::matrices::{MatrixPeakDims, MatrixPeakProblem};
    #[cfg(not(target_arch = "wasm32"))]
    pub use crate::peak::measure::measure_rates;
    pub use crate::peak::problem::{PeakDims, PeakNumber, PeakProblem};
}

/// Layers of multivectors.
pub mod clifford_layer {
    pub use crate::clifford::layer::features::{FeaturesDims, FeaturesProblem, Pass};
    pub use crate::clifford::layer::product::connected::{
        ConnectedBackward, ConnectedForward, ConnectedProblem, OperandRounding,
    };
    pub use crate::clifford::layer::product::gates::{GatesDims, GatesProblem};
    pub use crate::clifford::layer::product::operand_gradients::{
        OperandGradientsDims, OperandGradientsProblem,
    };
    pub use crate::clifford::layer::rows::{
        RowDims, RowFunction, RowOperandLayouts, RowProblem, RowStep, RowTile,
    };
}

/// Sketching operators applied by pinned kernels, and their problems, passes and uniforms.
pub mod sketch {
    pub use crate::sketch::apply::{apply_dense, apply_hadamard, staged_product};
    pub use crate::sketch::dense::DenseProblem;
    pub use crate::sketch::hadamard::{
        HadamardDims, HadamardLayout, HadamardPass, HadamardPiece, HadamardProblem, HadamardSource,
        HadamardTarget, HadamardTile,
    };
    pub use crate::sketch::layer::pinned_layer;
    pub use crate::sketch::sparse::{SparseDims, SparseMethod, SparseProblem};
}

/// Products and functions of multivectors.
pub mod clifford {
    pub use crate::clifford::algebra::function::{Function, LogBranch};
    pub use crate::clifford::algebra::product::{left_complement, right_complement};
    pub use crate::clifford::algebra::signs::{conjugate_sign, involute_sign, reverse_sign};
    pub use crate::clifford::algebra::terms::{Term, Terms};
    pub use crate::clifford::problem::{CliffordDims, CliffordProblem, MAX_AXES, MvLayout};
}

/// Elementwise functions, reductions, softmax, casts, copies and images.
pub mod ops {
    pub use crate::ops::problems::*;
}
