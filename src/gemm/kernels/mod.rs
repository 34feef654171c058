//! The kernels of matrix products. Each is an entry that says of itself all that plans ask: adding one is adding its file,
//! and a line in each list of this one.

mod coop;
mod cost;
mod dot;
mod gemv;
mod made;
mod naive;
mod segments;
mod tile;
mod tiled;

pub use tile::Tile;

use super::problem::{GemmProblem, Pin};
use super::segments::ONE_PLANE;
use crate::caps::Caps;
use crate::gemm::Made;
use crate::kernel::Kernel;
use crate::plan::Flops;
use cost::Cost;
use std::fmt;

/// A way to compute matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GemmKernel {
    /// Every element by one invocation: needs nothing.
    Naive,
    /// Few rows or few columns: the matrix that is not thin is read once, in vectors.
    Gemv,
    /// Blocks staged in shared memory, patches in registers.
    Tiled,
    /// Of i8: blocks staged in shared memory as words of four elements, whose dot products are one operation.
    Dot,
    /// Blocks staged in shared memory, patches in cooperative matrices: tensor cores.
    Coop,
}

impl GemmKernel {
    /// Every kernel.
    pub const ALL: [Self; 5] = [Self::Naive, Self::Gemv, Self::Tiled, Self::Dot, Self::Coop];

    pub(super) const fn entry(self) -> &'static dyn Entry {
        match self {
            Self::Naive => &naive::Naive,
            Self::Gemv => &gemv::Gemv,
            Self::Tiled => &tiled::Tiled,
            Self::Dot => &dot::Dot,
            Self::Coop => &coop::Coop,
        }
    }

    /// The kernel's tiles.
    #[must_use]
    pub fn tiles(self) -> &'static [Tile] {
        self.entry().tiles()
    }

    /// The file of the kernel, in `shaders/`.
    #[must_use]
    pub fn shader(self) -> &'static str {
        self.entry().shader()
    }
}

impl fmt::Display for GemmKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.entry().name())
    }
}

/// What a kernel supplies. Tiles that are passed to it are its own.
pub(super) trait Entry: Sync {
    /// The kernel's name.
    fn name(&self) -> &'static str;

    /// Its file in `shaders/`.
    fn shader(&self) -> &'static str;

    /// The sizes of blocks that it has.
    fn tiles(&self) -> &'static [Tile];

    /// Whether it can compute the problem by this tile, whatever the device's limits are; if not, what it needs.
    fn admits(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String>;

    /// Whether it sums parts of k apart from each other.
    fn sums_parts(&self, problem: &GemmProblem) -> bool {
        problem.types.ab.is_real()
    }

    /// Whether [`Pin::Staged`] allows it.
    fn is_staged(&self) -> bool {
        false
    }

    /// Invocations of one workgroup.
    fn invocations(&self, tile: &Tile, _: &Caps) -> u32 {
        tile.patches()
    }

    /// Sums that one invocation holds.
    fn accumulators(&self, tile: &Tile, _: &GemmProblem, _: &Caps) -> u32 {
        tile.tm * tile.tn
    }

    /// Bytes of shared memory of one workgroup.
    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32;

    /// Workgroups for all matrices and parts of k.
    fn blocks(&self, tile: &Tile, problem: &GemmProblem, _: &Caps) -> u64 {
        let d = &problem.dims;
        d.parts() * u64::from(d.m.div_ceil(tile.bm)) * u64::from(d.n.div_ceil(tile.bn))
    }

    /// What it computes and moves, and what it waits for.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost;

    /// Operations that make what of its operands is not in memory.
    fn making(&self, _: &Tile, _: &GemmProblem) -> Flops {
        Flops::default()
    }

    /// Seconds that each launch must gain for the tile to be worth compiling.
    fn compiling(&self, _: &Tile, _: &Caps) -> f64 {
        0.0
    }

    /// What runs in each workgroup.
    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel;

    /// The tile in words.
    fn describe(&self, tile: &Tile) -> String {
        let Tile { bm, bn, bk, tm, tn, .. } = tile;
        format!("{bm}x{bn}x{bk} ({tm}x{tn} per invocation)")
    }
}

/// For kernels whose operands are all in memory: what they need if one of these is made.
fn in_memory(problem: &GemmProblem) -> Result<(), String> {
    match problem.made {
        None => Ok(()),
        Some(Made::Segments(_)) => Err(ONE_PLANE.into()),
        Some(Made::Whole(_) | Made::Half(_)) => Err("both operands in memory".into()),
    }
}

/// For kernels that sum in floating point: what they need if the operands are integers.
fn of_fractions(problem: &GemmProblem) -> Result<(), String> {
    match problem.types.ab {
        ab if ab.is_real() => Ok(()),
        ab => Err(format!("operands with a fraction, not {ab}")),
    }
}

impl Pin {
    /// Whether it allows a kernel that can sum parts of k.
    pub(super) fn allows_parts(self, problem: &GemmProblem) -> bool {
        match self {
            Self::Kernel(kernel) | Self::Tile(Tile { kernel, .. }) => kernel.entry().sums_parts(problem),
            Self::Free | Self::Staged => problem.types.ab.is_real(),
        }
    }

    pub(super) fn allows(&self, tile: &Tile) -> bool {
        match self {
            Self::Free => true,
            Self::Kernel(kernel) => tile.kernel == *kernel,
            Self::Tile(pinned) => tile == pinned,
            Self::Staged => tile.kernel.entry().is_staged(),
        }
    }
}
