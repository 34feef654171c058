//! The interface of a kernel for plans.

use super::cost::Cost;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, Generated, Tile};
use crate::kernel::{Kernel, Language};
use crate::plan::Flops;

/// Why a kernel does not admit products over segments.
const ONE_PLANE: &str = "one plane of each operand, not one for each segment of k";

/// Why a kernel does not admit convolutions.
pub(super) const STORED_ROWS: &str = "rows of A in memory, not windows of an image";

/// The specification of a kernel. The tiles passed to it are its own.
pub(in crate::gemm) trait KernelSpec: Sync {
    /// The kernel's file in `shaders/`, without its extension: the kernel's name, which follows `gemm_` in a module's.
    fn shader(&self) -> &'static str;

    /// The kernel's language. A module binds all operands that an epilogue can have, and has [`QuantisedDims`](crate::gemm::problem::QuantisedDims).
    fn language(&self) -> Language {
        Language::of(self.shader())
    }

    /// The kernel's tiles.
    fn tiles(&self) -> &'static [Tile];

    /// Whether the kernel can compute the problem with this tile, apart from the device's limits. The error says what it needs.
    fn admits(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String>;

    /// Whether the kernel supports split-k.
    fn supports_split_k(&self, problem: &GemmProblem) -> bool {
        problem.types.ab.is_float()
    }

    /// Whether [`Pin::Staged`](crate::gemm::problem::Pin::Staged) allows the kernel.
    fn is_staged(&self) -> bool {
        false
    }

    /// Whether the kernel itself applies the problem's epilogue and stores C. Otherwise it stores sums, and a second launch does.
    fn has_epilogue(&self, _: &GemmProblem) -> bool {
        true
    }

    /// Invocations per workgroup.
    fn invocations(&self, tile: &Tile, _: &Caps) -> u32 {
        tile.tiles_per_block()
    }

    /// Accumulators per invocation.
    fn accumulators(&self, tile: &Tile, _: &GemmProblem, _: &Caps) -> u32 {
        tile.tm * tile.tn
    }

    /// Bytes of shared memory per workgroup.
    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32;

    /// The number of workgroups, for all matrices and splits.
    fn blocks(&self, tile: &Tile, problem: &GemmProblem, _: &Caps) -> u64 {
        let (rows, columns) = (problem.m().div_ceil(tile.bm), problem.n().div_ceil(tile.bn));
        problem.pairs() * u64::from(rows) * u64::from(columns)
    }

    /// The work of the kernel, from which its time is predicted.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost;

    /// Operations that generate operands.
    fn generation_flops(&self, _: &Tile, _: &GemmProblem) -> Flops {
        Flops::default()
    }

    /// Seconds that each launch must save to justify compiling the tile.
    fn compile_cost(&self, _: &Tile, _: &GemmProblem, _: &Caps) -> f64 {
        0.0
    }

    /// The shader with its parameters and slots filled in.
    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel;

    /// The tile in words, for the printed plan.
    fn describe(&self, tile: &Tile) -> String {
        let Tile { bm, bn, bk, tm, tn, .. } = tile;
        format!("{bm}x{bn}x{bk} ({tm}x{tn} per invocation)")
    }
}

/// The check of kernels that only read stored operands.
pub(super) fn in_memory(problem: &GemmProblem) -> Result<(), String> {
    match problem.generated {
        None => Ok(()),
        Some(Generated::Segments(_)) => Err(ONE_PLANE.into()),
        Some(Generated::Operand(_) | Generated::SignHalf(_)) => Err("both operands in memory".into()),
        Some(Generated::Windows(_)) => Err(STORED_ROWS.into()),
    }
}

/// The check of kernels that accumulate in floating point.
pub(super) fn of_fractions(problem: &GemmProblem) -> Result<(), String> {
    match problem.types.ab {
        ab if ab.is_float() => Ok(()),
        ab => Err(format!("operands with a fraction, not {ab}")),
    }
}
