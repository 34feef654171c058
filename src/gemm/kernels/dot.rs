//! The dot kernel, for i8: blocks staged in shared memory as words of four elements along k, exact sums in registers.

use super::compute_unit::ComputeUnit;
use super::cost::Cost;
use super::spec::{KernelSpec, in_memory};
use super::store::store;
use crate::caps::Caps;
use crate::gemm::problem::{GemmKernel, GemmProblem, Tile};
use crate::kernel::Kernel;
use crate::layout::DType;

pub(super) struct Dot;

/// The depths are such that every lane loads whole vectors of four words.
const TILES: [Tile; 3] = [
    Tile::of_invocations(GemmKernel::Dot, [128, 128, 32], [8, 8]),
    Tile::of_invocations(GemmKernel::Dot, [64, 64, 32], [8, 8]),
    Tile::of_invocations(GemmKernel::Dot, [32, 64, 64], [4, 4]),
];

/// How an operand is loaded: the constants `STAGE_...` of `gemm/dot.wgsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DotStage {
    /// Element by element; consecutive lanes read along k.
    ElementsK = 0,
    /// Element by element; consecutive lanes read along the outer axis.
    ElementsOuter = 1,
    /// Words along k, the order of shared memory.
    WordsK = 2,
    /// Words along the outer axis, which are transposed on the way.
    WordsOuter = 3,
}

impl DotStage {
    /// Loads words if an axis is contiguous and every line along it starts at a word. Lines may end anywhere: elements of
    /// the last word beyond the end are masked, or not stored. An axis of one element counts as contiguous.
    fn of([outer, k]: [u32; 2], [outer_stride, k_stride]: [u32; 2], starts: [u32; 3]) -> Self {
        let is_contiguous = |extent: u32, stride: u32| extent <= 1 || stride == 1;
        let is_aligned =
            |stride: u32| stride.is_multiple_of(4) && starts.iter().all(|start| start.is_multiple_of(4));
        if is_contiguous(k, k_stride) && is_aligned(outer_stride) {
            Self::WordsK
        } else if is_contiguous(outer, outer_stride) && is_aligned(k_stride) {
            Self::WordsOuter
        } else if outer_stride == 1 && k_stride != 1 {
            Self::ElementsOuter
        } else {
            Self::ElementsK
        }
    }
}

/// Bytes of one stage of both operands: one byte per element, each row of words padded by one vector (`gemm/dot_stage.wgsl`).
fn stage_bytes(tile: &Tile) -> u32 {
    (tile.bm + 4 + tile.bn + 4) * tile.bk
}

/// The number of stages: two if they fit, so that one is filled while the other is read.
fn stages(tile: &Tile, caps: &Caps) -> u32 {
    if 2 * stage_bytes(tile) <= caps.limits.workgroup_bytes { 2 } else { 1 }
}

impl KernelSpec for Dot {
    fn name(&self) -> &'static str {
        "dot"
    }

    fn shader(&self) -> &'static str {
        "gemm/dot"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    fn admits(&self, _: &Tile, problem: &GemmProblem, _: &Caps) -> Result<(), String> {
        in_memory(problem)?;
        match problem.types.ab {
            DType::I8 => Ok(()),
            other => Err(format!("operands of i8, not {other}")),
        }
    }

    fn shared_bytes(&self, tile: &Tile, _: &GemmProblem, caps: &Caps) -> u32 {
        stages(tile, caps) * stage_bytes(tile)
    }

    /// A read of a word serves four multiply-adds, at the rate of i8.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let cost = Cost::of_blocks(tile, problem, caps, ComputeUnit::Integer);
        let of_word = caps.machine.i8_flops / caps.machine.f32_flops / 4.0;
        Cost { read_weights: cost.read_weights.map(|weight| weight * of_word), ..cost }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let d = &problem.dims;
        let a = DotStage::of([d.m, d.k], [d.a_outer, d.a_k], problem.a_starts());
        let b = DotStage::of([d.n, d.k], [d.b_outer, d.b_k], problem.b_starts());
        let kernel =
            tile.staged_in_registers(self.shader(), stages(tile, caps), [a as u32, b as u32], problem, caps);
        // Without an epilogue, exact sums are stored.
        let kernel = if problem.has_epilogue() { kernel.param("sum", "f32") } else { kernel };
        store(kernel, problem, 3, caps)
    }
}
