//! How the library decides, as plain data: problems, plans, kernels, and devices to plan for. **Unstable**: for tests, tools
//! and benchmarks; it may change in any release.
//!
//! A [`Problem`] says what to compute. With a device's [`Caps`](crate::Caps) it gives a [`Plan`]: the steps that run, printable
//! and testable without a GPU.
//! ```
//! # fn main() -> tilewise::Result<()> {
//! use tilewise::planning::ops::{AxisFunction, AxisProblem};
//! use tilewise::planning::{Problem, fixtures};
//! use tilewise::{DType, Layout};
//!
//! let rows = Layout::contiguous("example", &[4096, 4096])?;
//! let problem = AxisProblem::new(AxisFunction::Softmax, &rows, 1, DType::F16)?;
//! println!("{}", problem.plan(&fixtures::h200())?);
//! # Ok(())
//! # }
//! ```

pub use crate::caps::fixtures;
pub use crate::plan::{
    Access, Arg, Bound, Buffer, Constant, Flops, Parameter, Plan, Problem, Scalar, ScalarKind,
    ScalarParameter, Step, Work,
};

/// Shaders with their parameters and slots filled in.
pub mod kernel {
    pub use crate::kernel::{KERNELS, Kernel, Needs, PARTS, Part, fold};
}

/// Products and functions of multivectors.
pub mod clifford {
    pub use crate::clifford::algebra::function::{Function, LogBranch};
    pub use crate::clifford::algebra::product::{left_complement, right_complement};
    pub use crate::clifford::algebra::signs::{conjugate_sign, involute_sign, reverse_sign};
    pub use crate::clifford::algebra::terms::{Term, Terms};
    pub use crate::clifford::problem::{CliffordDims, CliffordProblem, MAX_AXES, MvLayout};
}

/// Elementwise functions, functions along an axis, and casts.
pub mod ops {
    pub use crate::ops::axis::problem::{AxisDims, AxisFunction, AxisProblem};
    pub use crate::ops::cast::problem::{CastDims, CastProblem};
    pub use crate::ops::elementwise::problem::{
        Elementwise, ElementwiseDims, ElementwiseProblem, broadcast_shape,
    };
}
