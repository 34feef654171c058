//! The kernels of matrix products, one file each. To add one, add its file, its module and its line in `spec` here, and a
//! variant of `GemmKernel`.

mod broadcast;
mod compute_unit;
mod coop;
mod coop_khr;
mod coop_nv2;
mod cost;
mod dot;
mod fits;
mod gemv;
mod generated;
mod inner_loops;
mod module_epilogue;
mod module_operands;
mod naive;
mod reduce;
mod segments;
mod spec;
mod stage;
mod staged;
mod store;
mod tiled;
mod uniform;
mod windows;

pub(in crate::gemm) use compute_unit::ComputeUnit;
pub(in crate::gemm) use fits::{check_fit, has_separate_epilogue, launch_needs};
pub use inner_loops::InnerLoop;
pub(in crate::gemm) use module_epilogue::module_args;
pub(crate) use reduce::reduce_splits;
pub(in crate::gemm) use reduce::{seconds, step};

use crate::gemm::problem::{GemmKernel, GemmProblem, Pin, SplitK, Tile};
use crate::plan::Step;
use spec::KernelSpec;
use std::fmt;

impl GemmKernel {
    pub(in crate::gemm) const fn spec(self) -> &'static dyn KernelSpec {
        match self {
            Self::Naive => &naive::Naive,
            Self::Gemv => &gemv::Gemv,
            Self::Broadcast => &broadcast::Broadcast,
            Self::Tiled => &tiled::Tiled,
            Self::Dot => &dot::Dot,
            Self::Coop => &coop::Coop,
            Self::CoopKhr => &coop_khr::CoopKhr,
            Self::CoopNv2 => &coop_nv2::CoopNv2,
        }
    }

    /// The kernel's tiles.
    #[must_use]
    pub fn tiles(self) -> &'static [Tile] {
        self.spec().tiles()
    }

    /// The kernel's file in `shaders/`, without its extension.
    #[must_use]
    pub fn shader(self) -> &'static str {
        self.spec().shader()
    }

    /// The kernel that a step of a plan runs; None if the step is no product. The name of a SPIR-V module's file also contains the
    /// holder of its matrices and the type of its operands.
    #[must_use]
    pub fn of_step(step: &Step) -> Option<Self> {
        let file = step.kernel.shader().split('.').next();
        Self::ALL.into_iter().find(|kernel| Some(kernel.shader()) == file)
    }
}

impl Tile {
    /// The tile that a step of a plan runs; None if the step is no product.
    #[must_use]
    pub fn of_step(step: &Step) -> Option<&'static Self> {
        GemmKernel::of_step(step)?.tiles().iter().find(|tile| tile.to_string() == step.tile)
    }
}

impl fmt::Display for GemmKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shader = self.shader();
        f.pad(shader.rsplit("gemm_").next().unwrap_or(shader).trim_start_matches("gemm/"))
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.kernel.spec().describe(self))
    }
}

impl Pin {
    /// Whether it allows a kernel that supports split-k.
    pub(in crate::gemm) fn allows_split_k(self, problem: &GemmProblem) -> bool {
        match self {
            Self::Kernel(kernel) | Self::Tile(Tile { kernel, .. }) => kernel.spec().supports_split_k(problem),
            Self::Free | Self::Staged => problem.types.ab.is_float(),
        }
    }

    pub(in crate::gemm) fn allows(&self, tile: &Tile) -> bool {
        match self {
            Self::Free => true,
            Self::Kernel(kernel) => tile.kernel == *kernel,
            Self::Tile(pinned) => tile == pinned,
            Self::Staged => tile.kernel.spec().is_staged(),
        }
    }
}

impl GemmProblem {
    /// Whether the caller may request splits of k: the allowed kernels must support them, and i8 has no sums in f32.
    pub(in crate::gemm) fn may_split_k(&self) -> bool {
        self.pin.allows_split_k(self)
    }

    /// The number of splits that the caller requests.
    pub(in crate::gemm) fn requested_splits(&self) -> u32 {
        match self.split {
            SplitK::Splits(splits) if self.may_split_k() => self.splits_of_k(splits),
            SplitK::Splits(_) | SplitK::Auto => 1,
        }
    }
}
