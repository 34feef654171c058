//! The tiled kernel: blocks staged in shared memory, patches in registers.

use super::cost::{Cost, Unit};
use super::made::{self, Signs};
use super::{Entry, GemmKernel, Tile, of_fractions};
use crate::caps::Caps;
use crate::gemm::halves::Side;
use crate::gemm::memory::{Stage, store};
use crate::gemm::problem::{GemmProblem, Sums};
use crate::kernel::{Access, Kernel, Memory};
use crate::plan::Flops;

pub(super) struct Tiled;

const TILES: [Tile; 7] = [
    Tile::of_invocations(GemmKernel::Tiled, [128, 128, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [128, 128, 8], [16, 16]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 8], [32, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [64, 64, 16], [4, 4]),
    Tile::of_invocations(GemmKernel::Tiled, [32, 64, 8], [8, 8]),
    Tile::of_invocations(GemmKernel::Tiled, [32, 64, 16], [4, 4]),
];

/// Launches that the time to compile a kernel is spread over: this kernel's own tuning.
const LAUNCHES: f64 = 2000.0;

/// Whether an invocation has more sums than are held beside its operands: only software devices get such patches. The CPU's
/// first cache holds the sums and shared memory, and they fill it: one stage, and no sums of steps beside those of all.
fn is_large(tile: &Tile, caps: &Caps) -> bool {
    tile.tm * tile.tn > caps.machine.accumulators
}

/// Whether invocations get their rows of A from each other instead of shared memory. A GPU reads four numbers at once
/// there and hands them around one by one; a software device gathers what it reads.
fn shares_columns(tile: &Tile, caps: &Caps) -> bool {
    is_large(tile, caps) && caps.subgroups.is_some_and(|sizes| [sizes.min, sizes.max] == [tile.bk; 2])
}

/// What the products of one step are summed in: f16 where that is allowed and operands and shaders have it.
fn sums(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Sums {
    match Memory::of(problem.types.ab, caps) {
        Memory::F16 if !is_large(tile, caps) => problem.types.sums,
        _ => Sums::F32,
    }
}

/// Bytes of one stage of both operands, each row padded by one vector (`gemm/stage.wgsl`).
fn stage_bytes(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    (tile.bm + 4 + tile.bn + 4) * tile.bk * sums(tile, problem, caps).bytes()
}

/// Two where they fit, so that one is filled while the other is read.
fn stages(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    let two = 2 * stage_bytes(tile, problem, caps) <= caps.limits.workgroup_bytes;
    if two && !is_large(tile, caps) { 2 } else { 1 }
}

/// How the operands are staged. Neighbours make a generated one along its outer axis; half of one goes element by element,
/// as its half in memory lies.
fn stages_of(problem: &GemmProblem) -> [Stage; 2] {
    let d = &problem.dims;
    let of = |side, outer, strides, starts| match problem.generated_at(side) {
        Some(_) => Stage::ScalarOuter,
        None => Stage::of(outer, strides, starts),
    };
    let a = of(Side::A, d.m, [d.a_outer, d.a_k], problem.a_starts());
    let a = problem.segments().map_or(a, |segments| segments.stage(problem, a));
    let b = match problem.halved() {
        Some(_) if d.b_outer == 1 => Stage::ScalarOuter,
        Some(_) => Stage::ScalarK,
        None => of(Side::B, d.n, [d.b_outer, d.b_k], problem.b_starts()),
    };
    [a, b]
}

impl Entry for Tiled {
    fn name(&self) -> &'static str {
        "tiled"
    }

    fn shader(&self) -> &'static str {
        "gemm/tiled"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    /// Operands may be made.
    fn admits(&self, _: &Tile, problem: &GemmProblem, _: &Caps) -> Result<(), String> {
        of_fractions(problem)
    }

    fn is_staged(&self) -> bool {
        true
    }

    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        stages(tile, problem, caps) * stage_bytes(tile, problem, caps)
    }

    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let unit = match sums(tile, problem, caps) {
            Sums::F32 => Unit::F32,
            Sums::F16 => Unit::F16,
        };
        Cost::of_blocks(tile, problem, caps, unit)
    }

    /// Lanes run along the outer axis, or, where half of an operand lies along k, along k.
    fn making(&self, tile: &Tile, problem: &GemmProblem) -> Flops {
        let (outer, stages) = match problem.generated_at(Side::A) {
            Some(_) => (tile.bm, Stage::ScalarOuter),
            None => (tile.bn, stages_of(problem)[1]),
        };
        let lanes = tile.patches();
        let signs = match stages {
            Stage::ScalarK if outer * tile.bk > 4 * lanes => Signs::Scattered,
            Stage::ScalarK => Signs::Apart(tile.bk),
            Stage::ScalarOuter | Stage::VectorOuter => Signs::Apart(4 * lanes / outer),
        };
        made::flops(tile, problem, signs)
    }

    /// Large patches take longer to compile, and products of small matrices gain less by them than that.
    fn compiling(&self, tile: &Tile, caps: &Caps) -> f64 {
        let longer = caps.machine.compile_seconds.filter(|_| is_large(tile, caps));
        longer.map_or(0.0, |seconds| seconds / LAUNCHES)
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let ab = Memory::of(problem.types.ab, caps);
        let [a, b] = stages_of(problem);
        let kernel = tile.staged_in_patches(stages(tile, problem, caps), [a as u32, b as u32], problem, caps);
        let kernel = match sums(tile, problem, caps) {
            Sums::F32 => kernel,
            Sums::F16 => kernel.param("step_sum", "f16").param("SUMS_OF_STEP", true),
        };
        let kernel = if shares_columns(tile, caps) {
            kernel.slot("a_column", "subgroup").on_subgroups_of(tile.bk)
        } else {
            kernel
        };
        let kernel = match problem.generated_at(Side::A) {
            Some(generated) => generated.bind(kernel),
            None => kernel.operand("a", Access::read(ab, a.width())),
        };
        let kernel = match problem.generated_at(Side::B) {
            Some(generated) => generated.bind(kernel),
            None => kernel.operand("b", Access::read(ab, b.width())),
        };
        let kernel = match problem.halved() {
            Some(signs) => signs.bind(kernel, "memory_b"),
            None => kernel,
        };
        let kernel = match problem.segments() {
            Some(segments) => segments.bind_tiled(kernel, ab, a),
            None => kernel,
        };
        store(kernel, problem, 3, caps)
    }
}
