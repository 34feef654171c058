//! The dot kernel, for i8: blocks staged in shared memory as words of four elements along k, exact sums in registers.

use super::compute_unit::ComputeUnit;
use super::cost::Cost;
use super::spec::{KernelSpec, in_memory};
use super::stage::{LoadSize, OperandAxis, OperandLines};
use super::store::store;
use super::windows;
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
    /// Words if the operand has them. Elements of the last word beyond the end are masked, or not stored.
    fn of(lines: &OperandLines) -> Self {
        match lines.loads(4) {
            (OperandAxis::K, LoadSize::Units) => Self::WordsK,
            (OperandAxis::Outer, LoadSize::Units) => Self::WordsOuter,
            (OperandAxis::Outer, LoadSize::Elements) if lines.strides[0] == 1 => Self::ElementsOuter,
            (_, LoadSize::Elements) => Self::ElementsK,
        }
    }
}

/// Bytes of one stage of both operands: one byte per element, each row of words padded by one vector (`gemm/dot_stage.wgsl`).
fn stage_bytes(tile: &Tile) -> u32 {
    (tile.bm + 4 + tile.bn + 4) * tile.bk
}

/// The number of stages: two if they fit, so that one is filled while the other is read.
fn stages(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    let two = 2 * stage_bytes(tile) + windows::table_bytes(tile, problem) <= caps.limits.workgroup_bytes;
    if two { 2 } else { 1 }
}

impl KernelSpec for Dot {
    fn shader(&self) -> &'static str {
        "gemm/dot"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    fn admits(&self, _: &Tile, problem: &GemmProblem, _: &Caps) -> Result<(), String> {
        if problem.windows().is_none() {
            in_memory(problem)?;
        }
        match problem.types.ab {
            DType::I8 => Ok(()),
            other => Err(format!("operands of i8, not {other}")),
        }
    }

    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        stages(tile, problem, caps) * stage_bytes(tile) + windows::table_bytes(tile, problem)
    }

    /// A read of a word serves four multiply-adds, at the rate of i8.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let cost = Cost::of_blocks(tile, problem, caps, ComputeUnit::Integer);
        let of_word = caps.machine.i8_flops / caps.machine.f32_flops / 4.0;
        Cost { read_weights: cost.read_weights.map(|weight| weight * of_word), ..cost }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let loads = OperandLines::of(problem).map(|lines| DotStage::of(&lines) as u32);
        let kernel =
            tile.staged_in_registers(self.shader(), stages(tile, problem, caps), loads, problem, caps);
        // Without an epilogue, exact sums are stored.
        let kernel = if problem.has_epilogue() { kernel.param("sum", "f32") } else { kernel };
        store(windows::bind_dot(kernel, problem), problem, 3, caps)
    }
}
