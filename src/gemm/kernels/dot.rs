//! The kernel for i8: blocks staged in shared memory as words of four elements along k, sums in registers, exact.

use super::cost::{Cost, Unit};
use super::{Entry, GemmKernel, Tile, in_memory};
use crate::caps::Caps;
use crate::gemm::memory::store;
use crate::gemm::problem::GemmProblem;
use crate::kernel::Kernel;
use crate::layout::DType;

pub(super) struct Dot;

/// Steps so deep that every lane has a whole vector of four words to bring.
const TILES: [Tile; 3] = [
    Tile::of_invocations(GemmKernel::Dot, [128, 128, 32], [8, 8]),
    Tile::of_invocations(GemmKernel::Dot, [64, 64, 32], [8, 8]),
    Tile::of_invocations(GemmKernel::Dot, [32, 64, 64], [4, 4]),
];

/// How an operand comes from memory: the constants `STAGE_...` of `gemm/dot.wgsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Element by element, lanes along k.
    ElementsK = 0,
    /// Element by element, lanes along the outer axis.
    ElementsOuter = 1,
    /// Words along k, as shared memory has them.
    WordsK = 2,
    /// Words along the outer axis, whose bytes change places on the way.
    WordsOuter = 3,
}

impl Stage {
    /// By words where an axis is contiguous and every line along it starts with a whole word. Lines may end anywhere:
    /// what a word holds beyond the end is masked, or is not stored. An axis of one element is as contiguous as one
    /// likes.
    fn of([outer, k]: [u32; 2], [outer_stride, k_stride]: [u32; 2], starts: [u32; 3]) -> Self {
        let runs = |extent: u32, stride: u32| extent <= 1 || stride == 1;
        let starts_whole =
            |stride: u32| stride.is_multiple_of(4) && starts.iter().all(|start| start.is_multiple_of(4));
        if runs(k, k_stride) && starts_whole(outer_stride) {
            Self::WordsK
        } else if runs(outer, outer_stride) && starts_whole(k_stride) {
            Self::WordsOuter
        } else if outer_stride == 1 && k_stride != 1 {
            Self::ElementsOuter
        } else {
            Self::ElementsK
        }
    }
}

/// Bytes of one stage of both operands: a byte an element, each row of words padded by one vector (`gemm/dot_stage.wgsl`).
fn stage_bytes(tile: &Tile) -> u32 {
    (tile.bm + 4 + tile.bn + 4) * tile.bk
}

/// Two where they fit, so that one is filled while the other is read.
fn stages(tile: &Tile, caps: &Caps) -> u32 {
    if 2 * stage_bytes(tile) <= caps.limits.workgroup_bytes { 2 } else { 1 }
}

impl Entry for Dot {
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

    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        Cost::of_blocks(tile, problem, caps, Unit::Integer)
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let d = &problem.dims;
        let a = Stage::of([d.m, d.k], [d.a_outer, d.a_k], problem.a_starts());
        let b = Stage::of([d.n, d.k], [d.b_outer, d.b_k], problem.b_starts());
        let kernel = tile.staged_in_patches(stages(tile, caps), [a as u32, b as u32], problem, caps);
        store(kernel, problem, 3, caps)
    }
}
