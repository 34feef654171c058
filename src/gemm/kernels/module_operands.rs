//! How modules of SPIR-V load the operands of products: `shaders/spirv/gemm_operand.glsl`.

use super::stage::{LoadSize, OperandLines};
use crate::caps::{Caps, CoopRow, MatrixOrder};
use crate::gemm::problem::{GemmProblem, Pin, Tile};
use crate::kernel::Kernel;

/// The largest number of bytes along k of a block: a depth of 32 for operands of 16 bits, of 64 for those of 8. The smallest
/// subgroup tile has few products of matrices in a step, so its depth may be twice as large.
const MAX_DEPTH_BYTES: [usize; 2] = [64, 128];

/// The largest number of units (four registers each) that a GPU's invocation stages in one iteration, in addition to
/// its sums.
const MAX_UNITS: u32 = 8;

/// Checks that a GPU's invocation has registers for this number of units.
pub(super) fn check_registers(units: u32, caps: &Caps) -> Result<(), String> {
    if units > MAX_UNITS && caps.machine.compile_seconds.is_none() {
        return Err(format!("larger subgroups: {units} units per invocation, which a GPU would spill"));
    }
    Ok(())
}

/// How an operand is loaded.
#[derive(Clone, Copy)]
struct ModuleLoads {
    /// 1 if units run along the outer axis, 0 along k.
    outer: u32,
    /// 1 if units of 16 bytes are loaded, 0 if elements are.
    by_units: u32,
    /// 1 if units along the outer axis are transposed into rows of shared memory along k, because the device loads matrices
    /// in this order.
    transposed: u32,
}

impl ModuleLoads {
    /// Units of this number of elements, if the operand has them.
    fn of(unit: u32, lines: &OperandLines) -> Self {
        let (axis, by) = lines.loads(unit);
        Self { outer: axis as u32, by_units: u32::from(by == LoadSize::Units), transposed: 0 }
    }

    /// The same for a block of `outer` x `bk`. To transpose it, a lane stores one neighbouring unit for each element of a word,
    /// and four lanes load from a line. If that would leave more than half of the lanes idle, the block is not transposed.
    fn in_order(self, order: MatrixOrder, [outer, bk]: [u32; 2], unit: u32, lanes: u32) -> Self {
        let puts = outer * bk / (unit * put(unit));
        let divides = outer.is_multiple_of(4 * unit)
            && bk.is_multiple_of(put(unit))
            && (puts.is_multiple_of(lanes) || (lanes / 2..lanes).contains(&puts));
        let transposed = u32::from(order == MatrixOrder::AlongK && self.outer == 1 && divides);
        Self { transposed, ..self }
    }

    /// The largest number of units that a lane loads of a block with this number of elements.
    fn share(self, elements: u32, unit: u32, lanes: u32) -> u32 {
        let put = if self.transposed == 1 { put(unit) } else { 1 };
        (elements / (unit * put)).div_ceil(lanes) * put
    }

    /// Bytes of one block of `outer` x `bk` in shared memory: an odd number of units in each row.
    fn bytes(self, outer: u32, bk: u32, unit: u32) -> u32 {
        let is_outer = self.outer == 1 && self.transposed == 0;
        let [rows, row] = if is_outer { [bk, outer] } else { [outer, bk] };
        rows * ((row / unit) | 1) * 16
    }
}

/// Units that a lane stores to shared memory at once to transpose them: one for each element of a word.
fn put(unit: u32) -> u32 {
    unit / 4
}

/// Whether operands have 8 bits.
pub(super) fn has_8_bits(problem: &GemmProblem) -> bool {
    problem.types.ab.size() == 1
}

/// Elements of a unit of 16 bytes.
fn unit(problem: &GemmProblem) -> u32 {
    if has_8_bits(problem) { 16 } else { 8 }
}

/// How a tile of a module loads A and B.
fn loads(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> [ModuleLoads; 2] {
    let (unit, order) = (unit(problem), caps.machine.matrix_order);
    let lanes = tile.tiles_per_block() * caps.matrix_lanes();
    let [a, b] = OperandLines::of(problem).map(|lines| ModuleLoads::of(unit, &lines));
    let b = match problem.sign_half_of_b() {
        Some(signs) => ModuleLoads { outer: signs.staged_axis(problem) as u32, by_units: 0, transposed: 0 },
        None => b,
    };
    let a = match OperandLines::of_y(problem).map(|lines| ModuleLoads::of(unit, &lines)) {
        // Units only if both factors of A's products can be loaded in units of the same order.
        Some(y) if [y.outer, y.by_units] != [a.outer, a.by_units] => ModuleLoads { by_units: 0, ..a },
        _ => a,
    };
    [(a, tile.bm), (b, tile.bn)].map(|(loads, outer)| loads.in_order(order, [outer, tile.bk], unit, lanes))
}

/// The number of stages of a tile of a module, two if they fit, and bytes of shared memory with `output` bytes for results.
pub(super) fn stages(tile: &Tile, output: u32, problem: &GemmProblem, caps: &Caps) -> [u32; 2] {
    let [a, b] = loads(tile, problem, caps);
    let unit = unit(problem);
    let stage = a.bytes(tile.bm, tile.bk, unit) + b.bytes(tile.bn, tile.bk, unit);
    let bytes = |stages: u32| stages * stage + output;
    if bytes(2) <= caps.limits.workgroup_bytes { [2, bytes(2)] } else { [1, bytes(1)] }
}

/// Checks that blocks are at most as deep as those that were compiled for GPUs.
pub(super) fn check_depth(tile: &Tile, problem: &GemmProblem) -> Result<(), String> {
    let most = MAX_DEPTH_BYTES[usize::from([tile.tm, tile.tn] == [16; 2])];
    if tile.bk as usize * problem.types.ab.size() > most {
        return Err(format!("blocks of at most {most} bytes along k"));
    }
    Ok(())
}

/// Checks that a workgroup's invocations have whole units to stage, and a GPU's have registers for them.
pub(super) fn check_units(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
    let (lanes, unit) = (tile.tiles_per_block() * caps.matrix_lanes(), unit(problem));
    if [tile.bm, tile.bn].iter().any(|outer| !(outer * tile.bk).is_multiple_of(unit * lanes)) {
        return Err(format!("smaller subgroups: {lanes} invocations have no unit each to stage"));
    }
    let [a, b] = loads(tile, problem, caps);
    let units = a.share(tile.bm * tile.bk, unit, lanes) + b.share(tile.bn * tile.bk, unit, lanes);
    check_registers(units, caps)
}

/// Checks that a tile has few sums for each invocation, unless it is pinned. A GPU would spill larger tiles. The compilers of
/// software devices unroll the product of two matrices, and take a minute for a large tile.
pub(super) fn check_accumulators(
    accumulators: u32,
    problem: &GemmProblem,
    caps: &Caps,
) -> Result<(), String> {
    if !matches!(problem.pin, Pin::Tile(_)) && accumulators > caps.machine.matrix_accumulators {
        return Err(format!("{accumulators} accumulators per invocation, unless the tile is pinned"));
    }
    Ok(())
}

/// What a device lacks that lists no row which is meant: the row that is not to be used, if there is one, or the `needed` matrices.
pub(super) fn missing(caps: &Caps, needed: &str, is_meant: impl Fn(&CoopRow) -> bool) -> String {
    match caps.rows.iter().find(|row| is_meant(row) && row.is_fenced_off()) {
        Some(row) => format!("cooperative matrices {row}"),
        None => format!("cooperative matrices {needed} that fill its tile, which the adapter does not list"),
    }
}

/// Sets the sizes of a tile whose operands are staged, and how they are loaded.
pub(super) fn bind(kernel: Kernel, stages: u32, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
    let [a, b] = loads(tile, problem, caps);
    kernel
        .param("BM", tile.bm)
        .param("BN", tile.bn)
        .param("BK", tile.bk)
        .param("WM", tile.tm)
        .param("WN", tile.tn)
        .param("STAGES", stages)
        .param("a_OUTER", a.outer)
        .param("b_OUTER", b.outer)
        .param("a_BY_UNITS", a.by_units)
        .param("b_BY_UNITS", b.by_units)
        .param("a_TRANSPOSED", a.transposed)
        .param("b_TRANSPOSED", b.transposed)
}
