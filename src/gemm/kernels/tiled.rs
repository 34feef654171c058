//! The tiled kernel: blocks staged in shared memory, register tiles.

use super::compute_unit::ComputeUnit;
use super::cost::Cost;
use super::generated::{self, Signs};
use super::spec::{KernelSpec, of_fractions};
use super::stage::{OperandLines, TiledStage};
use super::store::store;
use super::windows;
use crate::caps::Caps;
use crate::gemm::problem::{Accumulator, GemmKernel, GemmProblem, Segments, Side, Tile};
use crate::kernel::{Kernel, OperandAccess, StorageFormat};
use crate::layout::DType;
use crate::plan::Flops;

pub(super) struct Tiled;

const TILES: [Tile; 9] = [
    Tile::of_invocations(GemmKernel::Tiled, [128, 128, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [128, 128, 8], [16, 16]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 8], [32, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 16], [4, 4]),
    Tile::of_invocations(GemmKernel::Tiled, [32, 64, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [32, 64, 16], [4, 4]),
    Tile::of_invocations(GemmKernel::Tiled, [128, 128, 16], [8, 4]),
    Tile::of_invocations(GemmKernel::Tiled, [128, 64, 16], [8, 4]),
];

/// The number of sums of a register tile of 8x8.
const FULL_TILE: u32 = 64;

/// The compile time of a kernel is spread over this number of launches. Tuned for this kernel.
const LAUNCHES: f64 = 2000.0;
/// The factor of the compile time of a kernel that converts its operands to f32: 2.7 s instead of 0.34 s on lavapipe.
const CONVERTED: f64 = 8.0;

/// Whether a register tile has more accumulators than a GPU holds in registers. Only software devices get such tiles. There
/// the accumulators and shared memory together fill the CPU's first cache: one stage, and no separate sums per iteration.
fn is_large(tile: &Tile, caps: &Caps) -> bool {
    tile.tm * tile.tn > caps.machine.accumulators
}

/// Whether invocations receive their rows of A by subgroup shuffles instead of from shared memory. A GPU reads four numbers
/// at once from shared memory but shuffles them one by one; a software device gathers each of its reads.
fn shares_columns(tile: &Tile, caps: &Caps) -> bool {
    is_large(tile, caps) && caps.subgroups.is_some_and(|sizes| [sizes.min, sizes.max] == [tile.bk; 2])
}

/// The accumulator of one iteration: f16 if the problem allows it and both operands and shaders support it.
fn accumulator(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Accumulator {
    match StorageFormat::of(problem.types.ab, caps) {
        StorageFormat::F16 if !is_large(tile, caps) => problem.types.accumulator,
        _ => Accumulator::F32,
    }
}

/// Bytes of one stage of both operands, each row padded by one vector (`gemm/stage.wgsl`).
fn stage_bytes(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    (tile.bm + 4 + tile.bn + 4) * tile.bk * accumulator(tile, problem, caps).bytes()
}

/// The number of stages: two if they fit, so that one is filled while the other is read.
fn stages(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    let table = windows::table_bytes(tile, problem);
    let two = 2 * stage_bytes(tile, problem, caps) + table <= caps.limits.workgroup_bytes;
    if two && !is_large(tile, caps) { 2 } else { 1 }
}

/// How the operands are staged. Consecutive lanes generate an operand along its outer axis. An operand with a sign half is
/// staged element by element, in the order of its stored half.
fn stages_of(problem: &GemmProblem) -> [TiledStage; 2] {
    let [a, b] = OperandLines::of(problem);
    let of = |side, lines: &OperandLines| match problem.generated_at(side) {
        Some(_) => TiledStage::ScalarOuter,
        None => TiledStage::of(lines),
    };
    let b = match problem.sign_half_of_b() {
        Some(_) if b.strides[0] == 1 => TiledStage::ScalarOuter,
        Some(_) => TiledStage::ScalarK,
        None => of(Side::B, &b),
    };
    let a = Segments::stage(problem, of(Side::A, &a));
    [a, b]
}

/// How a device stages the operands. Each square needs registers for 16 elements that are loaded ahead. Without registers for
/// two squares, B is staged element by element.
fn stages_on(problem: &GemmProblem, caps: &Caps) -> [TiledStage; 2] {
    match stages_of(problem) {
        [a, TiledStage::Squares] if a == TiledStage::Squares && caps.machine.accumulators < FULL_TILE => {
            [a, TiledStage::ScalarK]
        }
        stages => stages,
    }
}

impl KernelSpec for Tiled {
    fn shader(&self) -> &'static str {
        "gemm/tiled"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    /// Operands may be generated. GPUs with registers for 8x8 sums do not take tiles of 8x4, whose inner loop has a quarter
    /// more instructions per multiply-add (765 instead of 616 for 512 on RDNA 3).
    fn admits(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        let is_gpu = caps.machine.compile_seconds.is_none();
        if is_gpu && [tile.tm, tile.tn] == [8, 4] && caps.machine.accumulators >= FULL_TILE {
            return Err(format!("a GPU with fewer than {FULL_TILE} accumulators per invocation"));
        }
        of_fractions(problem)
    }

    fn is_staged(&self) -> bool {
        true
    }

    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        stages(tile, problem, caps) * stage_bytes(tile, problem, caps) + windows::table_bytes(tile, problem)
    }

    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let unit = match accumulator(tile, problem, caps) {
            Accumulator::F32 => ComputeUnit::F32,
            Accumulator::F16 => ComputeUnit::F16,
        };
        let cost = Cost::of_blocks(tile, problem, caps, unit);
        let [of_a, of_b] = cost.read_weights;
        // A shuffle takes two thirds of the time of a read from the shared memory of a software device.
        let of_a = if shares_columns(tile, caps) { of_a / 1.5 } else { of_a };
        Cost { read_weights: [of_a, of_b], ..cost }
    }

    /// Consecutive lanes generate along the outer axis, or along k if the stored half of the operand is contiguous along k.
    fn generation_flops(&self, tile: &Tile, problem: &GemmProblem) -> Flops {
        let (outer, stages) = match problem.generated_at(Side::A) {
            Some(_) => (tile.bm, TiledStage::ScalarOuter),
            None => (tile.bn, stages_of(problem)[1]),
        };
        let lanes = tile.tiles_per_block();
        let signs = match stages {
            TiledStage::ScalarK if outer * tile.bk > 4 * lanes => Signs::Scattered,
            TiledStage::ScalarK => Signs::Apart(tile.bk),
            TiledStage::ScalarOuter | TiledStage::VectorOuter | TiledStage::Squares => {
                Signs::Apart(4 * lanes / outer)
            }
        };
        generated::flops(tile, problem, signs)
    }

    /// Large register tiles take longer to compile. For small products the gain is less than that.
    fn compile_cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> f64 {
        let extra = caps.machine.compile_seconds.filter(|_| is_large(tile, caps));
        let times = if problem.types.ab == DType::F32 { 1.0 } else { CONVERTED };
        extra.map_or(0.0, |seconds| seconds * times / LAUNCHES)
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let ab = StorageFormat::of(problem.types.ab, caps);
        let [a, b] = stages_on(problem, caps);
        let kernel = tile.staged_in_registers(
            self.shader(),
            stages(tile, problem, caps),
            [a as u32, b as u32],
            problem,
            caps,
        );
        let kernel = match accumulator(tile, problem, caps) {
            Accumulator::F32 => kernel,
            Accumulator::F16 => kernel.param("iteration_sum", "f16").param("ITERATION_SUMS", true),
        };
        let kernel = if shares_columns(tile, caps) {
            kernel.slot("a_column", "subgroup").require_subgroup_size(tile.bk)
        } else {
            kernel
        };
        let kernel = match problem.generated_at(Side::A) {
            Some(generated) => generated.bind(kernel),
            None => kernel.operand("a", OperandAccess::read(ab, a.width())),
        };
        let kernel = match problem.generated_at(Side::B) {
            Some(generated) => generated.bind(kernel),
            None => kernel.operand("b", OperandAccess::read(ab, b.width())),
        };
        let kernel = match problem.sign_half_of_b() {
            Some(signs) => signs.bind(kernel, "tiled_load_b"),
            None => kernel,
        };
        let kernel = match problem.segments() {
            Some(segments) => segments.bind_tiled(kernel, ab, a),
            None => kernel,
        };
        let kernel = windows::bind_tiled(kernel, problem, &caps.machine);
        store(kernel, problem, problem.bindings(), caps)
    }
}
