//! The coop kernel: blocks staged in shared memory, subgroup tiles of cooperative matrices, one tile per subgroup.

use super::compute_unit::ComputeUnit;
use super::cost::Cost;
use super::generated::{self, Signs};
use super::module_operands::check_registers;
use super::spec::KernelSpec;
use super::stage::{LoadSize, OperandAxis, OperandLines};
use super::store::{store, stores_parts_of_words};
use super::windows;
use crate::caps::{Caps, CoopScalar, MatrixOrder};
use crate::gemm::problem::{GemmKernel, GemmProblem, Generated, PlaneSource, Tile};
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::DType;
use crate::plan::Flops;

pub(super) struct Coop;

/// Blocks from large to small. Subgroup tiles are as large as the registers of a subgroup of 32 allow: with 64 x 64, each
/// staged element is used 64 times. In a subgroup of 64 each invocation needs half as many registers, but there must be more
/// units to stage: by a depth of 32, or by fewer subgroup tiles. Matrices of 8 x 8 are for Apple's GPUs, which have half the
/// registers. The depth is 16 if two stages of depth 32 do not fit into 48 KiB, or if a software driver would take twice as
/// long to compile.
const TILES: [Tile; 14] = [
    Tile::of_subgroups(16, [128, 256, 16], [64, 64]),
    Tile::of_subgroups(16, [256, 128, 16], [64, 64]),
    Tile::of_subgroups(16, [128, 128, 32], [64, 64]),
    Tile::of_subgroups(16, [128, 64, 32], [64, 64]),
    Tile::of_subgroups(16, [128, 64, 16], [64, 32]),
    Tile::of_subgroups(16, [64, 64, 32], [32, 64]),
    Tile::of_subgroups(16, [64, 64, 32], [32, 32]),
    Tile::of_subgroups(16, [32, 64, 32], [32, 32]),
    Tile::of_subgroups(8, [128, 256, 16], [64, 64]),
    Tile::of_subgroups(8, [256, 128, 16], [64, 64]),
    Tile::of_subgroups(8, [128, 128, 16], [64, 32]),
    Tile::of_subgroups(8, [128, 64, 16], [64, 32]),
    Tile::of_subgroups(8, [64, 64, 16], [32, 32]),
    Tile::of_subgroups(8, [32, 64, 16], [32, 32]),
];

/// The registers of an invocation for addresses and counters: about 40 when compiled for AMD and NVIDIA.
const PLACE_REGISTERS: u32 = 40;

impl Tile {
    /// A tile whose subgroup tiles consist of cooperative matrices.
    const fn of_subgroups(fragment: u32, [bm, bn, bk]: [u32; 3], [tm, tn]: [u32; 2]) -> Self {
        Self { kernel: GemmKernel::Coop, bm, bn, bk, tm, tn, fragment }
    }
}

/// How an operand is staged.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CoopStage {
    /// The axis along which eight elements form a unit, or a row of shared memory.
    axis: OperandAxis,
    by: LoadSize,
}

impl CoopStage {
    /// Units of eight, if the operand has them.
    fn of(lines: &OperandLines) -> Self {
        let (axis, by) = lines.loads(8);
        Self { axis, by }
    }

    /// The axis of rows in shared memory: the axis of the units, unless the device loads matrices along k.
    fn shared(self, caps: &Caps) -> OperandAxis {
        match caps.machine.matrix_order {
            MatrixOrder::Any => self.axis,
            MatrixOrder::AlongK => OperandAxis::K,
        }
    }

    /// The number of units that an invocation stores to shared memory at once: two if it transposes them.
    fn units_per_put(self, caps: &Caps) -> u32 {
        if self.shared(caps) == self.axis { 1 } else { 2 }
    }

    /// Bytes of one block of `outer` x `bk` in shared memory, each row padded by 16 bytes.
    fn bytes(self, outer: u32, bk: u32, caps: &Caps) -> u32 {
        match self.shared(caps) {
            OperandAxis::K => outer * (bk + 8) * 2,
            OperandAxis::Outer => bk * (outer + 8) * 2,
        }
    }
}

fn stages_of(problem: &GemmProblem) -> [CoopStage; 2] {
    let [a, b] = OperandLines::of(problem).map(|lines| CoopStage::of(&lines));
    let b = match problem.sign_half_of_b() {
        Some(signs) => CoopStage { axis: signs.staged_axis(problem), by: LoadSize::Elements },
        None => b,
    };
    let a = match OperandLines::of_y(problem).map(|lines| CoopStage::of(&lines)) {
        // Units only if both factors of A's products can be loaded in units of the same order.
        Some(y) if y != a => CoopStage { by: LoadSize::Elements, ..a },
        _ => a,
    };
    [a, b]
}

/// Bytes of one stage of both operands, and of the buffer through which results are stored.
fn workgroup_bytes(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> [u32; 2] {
    let [a, b] = stages_of(problem);
    let stage = a.bytes(tile.bm, tile.bk, caps) + b.bytes(tile.bn, tile.bk, caps);
    // One f32 matrix per subgroup tile, each row padded by a vector (`gemm/coop.wgsl`).
    [stage, tile.tiles_per_block() * tile.fragment * (tile.fragment + 4) * 4]
}

/// The number of stages: two if they fit, so that one is filled while the other is read.
fn stages(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    let [stage, output] = workgroup_bytes(tile, problem, caps);
    if 2 * stage + output + windows::table_bytes(tile, problem) <= caps.limits.workgroup_bytes {
        2
    } else {
        1
    }
}

/// The units of both operands that an invocation stages in one iteration.
fn units(tile: &Tile, caps: &Caps) -> u32 {
    (tile.bm + tile.bn) * tile.bk / (8 * tile.tiles_per_block() * caps.matrix_lanes())
}

/// The registers of an invocation: its share of the sums, of a column of matrices A and of a matrix B, the units of the next
/// iteration, and places.
fn registers(tile: &Tile, caps: &Caps) -> u32 {
    let sums = tile.tm * tile.tn / caps.matrix_lanes();
    let matrices = (tile.tm + tile.fragment) * tile.fragment / (2 * caps.matrix_lanes());
    sums + matrices + 4 * units(tile, caps) + PLACE_REGISTERS
}

/// Fills the slot of an operand: with this variant, or that of stored operands.
fn fetch(
    kernel: Kernel,
    [slot, unit]: [&'static str; 2],
    by: LoadSize,
    variant: Option<&'static str>,
) -> Kernel {
    let kernel = kernel.param(unit, by.unit());
    match (variant, by) {
        (Some(variant), _) => kernel.slot(slot, variant),
        (None, LoadSize::Units) => kernel,
        (None, LoadSize::Elements) => kernel.slot(slot, "elements"),
    }
}

impl KernelSpec for Coop {
    fn shader(&self) -> &'static str {
        "gemm/coop"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    /// f16 operands, also with a sign half, if the device has the row of cooperative matrices.
    fn admits(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        if let Some(Generated::Operand(_)) = problem.generated {
            return Err("both operands in memory".into());
        }
        if problem.types.ab != DType::F16 {
            return Err(format!("operands of f16, not {}", problem.types.ab));
        }
        // NOTE: a kernel with matrices uses Vulkan's memory model. naga does not declare the capability that atomics need
        // there.
        if stores_parts_of_words(problem, caps) {
            return Err(format!(
                "C of {} whose rows are whole vectors of four, as it has no atomics",
                problem.types.c
            ));
        }
        caps.check_coop(tile.fragment, CoopScalar::F16, CoopScalar::F32, problem.pin.leaves_a_choice())?;
        let lanes = self.invocations(tile, caps);
        for (stage, outer) in stages_of(problem).into_iter().zip([tile.bm, tile.bn]) {
            let least = stage.units_per_put(caps);
            if !(outer * tile.bk).is_multiple_of(8 * lanes * least) {
                let units = if least == 1 { "no unit" } else { "not two units" };
                return Err(format!("smaller subgroups: {lanes} invocations have {units} each to stage"));
            }
        }
        check_registers(units(tile, caps), caps)
    }

    fn is_staged(&self) -> bool {
        true
    }

    fn invocations(&self, tile: &Tile, caps: &Caps) -> u32 {
        tile.tiles_per_block() * caps.matrix_lanes()
    }

    fn accumulators(&self, tile: &Tile, _: &GemmProblem, caps: &Caps) -> u32 {
        tile.tm * tile.tn / caps.matrix_lanes()
    }

    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        let [stage, output] = workgroup_bytes(tile, problem, caps);
        stages(tile, problem, caps) * stage + output + windows::table_bytes(tile, problem)
    }

    /// A read of an f16 from shared memory takes as long as several multiply-adds. If a core has registers for a single workgroup
    /// only, it waits at barriers.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let machine = &caps.machine;
        let cost = Cost::of_blocks(tile, problem, caps, ComputeUnit::Matrix);
        let is_alone = 2 * self.invocations(tile, caps) * registers(tile, caps) > machine.core_registers;
        let barrier_seconds = match cost.inner_loop {
            Some(_) => cost.barrier_seconds,
            None if is_alone => machine.barrier_seconds,
            None => 0.0,
        };
        Cost { read_weights: [machine.matrix_read_weight(); 2], barrier_seconds, ..cost }
    }

    /// The signs of a sign half are f16.
    fn generation_flops(&self, tile: &Tile, problem: &GemmProblem) -> Flops {
        let flops = generated::flops(tile, problem, Signs::Units(stages_of(problem)[1].axis));
        if problem.sign_half_of_b().is_some() { Flops { f16: flops.f32, f32: 0.0, ..flops } } else { flops }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let size = tile.fragment;
        let kernel = tile
            .staged(self.shader(), stages(tile, problem, caps), problem, caps)
            .param("WM", tile.tm)
            .param("WN", tile.tn)
            .param("SUBGROUP", caps.matrix_lanes())
            .require_subgroup_size(caps.matrix_lanes())
            .f16_matrices(size);
        let [a, b] = stages_of(problem);
        let kernel = kernel
            .param("A_OUTER", a.axis as u32)
            .param("B_OUTER", b.axis as u32)
            .param("A_SHARED_OUTER", a.shared(caps) as u32)
            .param("B_SHARED_OUTER", b.shared(caps) as u32);
        let put = |kernel: Kernel, slot, stage: CoopStage| match stage.units_per_put(caps) {
            1 => kernel,
            _ => kernel.slot(slot, "transposed"),
        };
        let kernel = put(put(kernel, "coop_put_a", a), "coop_put_b", b);
        let kernel = windows::bind_coop(kernel, problem);
        let [load_a, load_b] = windows::coop_loads(problem, [a.by, b.by]);
        let kernel = match problem.segments() {
            Some(segments) if segments.source() != PlaneSource::Stored => kernel.param("a_unit", a.by.unit()),
            _ => fetch(kernel, ["coop_load_a", "a_unit"], a.by, load_a),
        };
        let kernel = match problem.sign_half_of_b() {
            Some(signs) => signs.bind(kernel, "coop_load_b").param("b_value", "f16").param("b_unit", "f16"),
            None => fetch(kernel, ["coop_load_b", "b_unit"], b.by, load_b),
        };
        let kernel = match (problem.segments(), a.by) {
            (Some(segments), by) => segments.bind_coop(kernel, by),
            (None, _) => kernel,
        };
        // Drivers require that the rows of an f32 matrix are stored at multiples of 16 bytes.
        let direct = problem.types.c == DType::F32 && problem.rows_of_c_start_at(4);
        let kernel = if direct && problem.epilogue.is_plain() {
            kernel.result(OperandAccess::write(StorageFormat::F32, AccessWidth::One))
        } else {
            store(kernel, problem, 3, caps).slot("store_whole", "none")
        };
        kernel.report_subgroup_size(caps)
    }

    fn describe(&self, tile: &Tile) -> String {
        let Tile { bm, bn, bk, tm, tn, fragment, .. } = tile;
        format!("{bm}x{bn}x{bk} ({tm}x{tn} per subgroup, of {fragment}x{fragment})")
    }
}
