//! The `coop_khr` kernel: a module of SPIR-V on cooperative matrices of any shape, for f16, bf16, i8, e4m3 and e5m2.

use super::compute_unit::ComputeUnit;
use super::coop::Coop;
use super::cost::Cost;
use super::generated::{self, Signs};
use super::module_epilogue::{self, LineEpilogue, finishes_matrices, is_rounded, stores_matrices};
use super::module_operands::{
    self, check_accumulators, check_depth, check_units, has_8_bits, missing, stages,
};
use super::spec::KernelSpec;
use super::stage::OperandAxis;
use super::windows;
use crate::caps::{Caps, CoopRow, CoopScalar, Matrices};
use crate::gemm::problem::{
    Accumulator, GemmKernel, GemmProblem, GemmTypes, Generated, MAX_F16_PRODUCTS, SEGMENT_MULTIPLE, Tile,
};
use crate::kernel::Kernel;
use crate::layout::DType;
use crate::ops::Activation;
use crate::plan::Flops;

pub(super) struct CoopKhr;

/// The blocks and subgroup tiles of [`Coop`](super::coop::Coop), whose inner loops are known; for types of 8 bits the same with
/// twice the depth, which has equally many bytes.
const TILES: [Tile; 12] = [
    Tile::of_invocations(GemmKernel::CoopKhr, [128, 256, 16], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopKhr, [256, 128, 16], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopKhr, [128, 256, 64], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopKhr, [128, 128, 64], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopKhr, [64, 64, 64], [32, 32]),
    Tile::of_invocations(GemmKernel::CoopKhr, [128, 128, 32], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopKhr, [128, 64, 32], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopKhr, [64, 64, 32], [32, 32]),
    Tile::of_invocations(GemmKernel::CoopKhr, [32, 64, 32], [32, 32]),
    Tile::of_invocations(GemmKernel::CoopKhr, [64, 64, 128], [16, 16]),
    Tile::of_invocations(GemmKernel::CoopKhr, [64, 64, 64], [16, 16]),
    Tile::of_invocations(GemmKernel::CoopKhr, [32, 32, 32], [16, 16]),
];

/// The types of A and B, and of the sums, of the rows that a product can use, and its module.
fn module(problem: &GemmProblem) -> Result<(CoopScalar, CoopScalar, &'static str), String> {
    use CoopScalar::{Bf16, E4m3, E5m2, F16, F32, I8, I32};
    Ok(match (problem.types.ab, problem.generated) {
        (DType::F16, None) => (F16, F32, "spirv/gemm_coop_khr.f16"),
        (DType::Bf16, None) => (Bf16, F32, "spirv/gemm_coop_khr.bf16"),
        (DType::F16, Some(Generated::Segments(_))) => (F16, F32, "spirv/gemm_coop_khr.f16_segments"),
        (DType::Bf16, Some(Generated::Segments(_))) => (Bf16, F32, "spirv/gemm_coop_khr.bf16_segments"),
        (DType::F16, Some(Generated::SignHalf(_))) => (F16, F32, "spirv/gemm_coop_khr.f16_signs"),
        (DType::Bf16, Some(Generated::SignHalf(_))) => (Bf16, F32, "spirv/gemm_coop_khr.bf16_signs"),
        (DType::F16, Some(Generated::Windows(_))) => (F16, F32, "spirv/gemm_coop_khr.f16_windows"),
        (DType::Bf16, Some(Generated::Windows(_))) => (Bf16, F32, "spirv/gemm_coop_khr.bf16_windows"),
        (DType::I8, Some(Generated::Windows(_))) => (I8, I32, "spirv/gemm_coop_khr.i8_windows"),
        (DType::I8, None) => (I8, I32, "spirv/gemm_coop_khr.i8"),
        (DType::F8E4M3, None) => (E4m3, F32, "spirv/gemm_coop_khr.e4m3"),
        (DType::F8E5M2, None) => (E5m2, F32, "spirv/gemm_coop_khr.e5m2"),
        (_, Some(Generated::Operand(_))) => return Err("both operands in memory".into()),
        (other, None) => return Err(format!("operands of f16, bf16, i8, e4m3 or e5m2, not {other}")),
        (other, Some(_)) => return Err(format!("operands of f16 or bf16, not {other}")),
    })
}

/// Checks that no block contains parts of two segments of k.
fn check_depth_of_segments(tile: &Tile, problem: &GemmProblem) -> Result<(), String> {
    if problem.segments().is_none() || SEGMENT_MULTIPLE.is_multiple_of(tile.bk) {
        return Ok(());
    }
    Err(format!("blocks whose depth divides {SEGMENT_MULTIPLE}, not {}", tile.bk))
}

/// The row of a tile: the largest one that fills the tile and is not slow.
fn row<'a>(tile: &Tile, problem: &GemmProblem, caps: &'a Caps) -> Result<&'a CoopRow, String> {
    let (ab, c, _) = module(problem)?;
    let fills = |row: &&CoopRow| {
        let parts = [(tile.tm, row.m), (tile.tn, row.n), (tile.bk, row.k)];
        row.is_used_in_spirv() && parts.iter().all(|(whole, part)| whole.is_multiple_of(*part))
    };
    let is_fast = |row: &CoopRow| caps.slowness(row).is_none();
    let largest = caps.rows_of(ab, c).filter(fills).max_by_key(|row| (is_fast(row), row.m * row.n * row.k));
    largest.ok_or_else(|| {
        missing(caps, &format!("{ab} x {ab} -> {c}"), |row| [row.a, row.b, row.c] == [ab, ab, c])
    })
}

/// The matrices of f16 that receive the products before they are added to sums of f32: if the problem allows it, the device has
/// such matrices, and they are faster or the kernel is pinned.
fn short_sums(row: &CoopRow, problem: &GemmProblem, caps: &Caps) -> Option<Matrices> {
    let short = Matrices { c: CoopScalar::F16, ..Matrices::of(row) };
    let is_allowed = problem.types.accumulator == Accumulator::F16
        && row.a == CoopScalar::F16
        && row.k <= MAX_F16_PRODUCTS
        && (caps.machine.f16_matrix_flops > caps.machine.matrix_flops || !problem.pin.leaves_a_choice());
    let has_row = |row: &CoopRow| row.is_spelled_in_wgsl() && short.are_of(row);
    (is_allowed && caps.rows_of(CoopScalar::F16, CoopScalar::F16).any(has_row)).then_some(short)
}

/// The epilogue of whole blocks that are stored as matrices. None if blocks are stored by elements.
///
/// To round sums as matrices, the device must list a row for the rounded type. A software device's compiler would repeat an
/// activation for each element of each matrix.
fn direct(row: &CoopRow, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Option<LineEpilogue> {
    let is_round_matrix = |of: &CoopRow| [of.m, of.n] == [row.m, row.n];
    let has_matrices = !is_rounded(problem) || caps.rows_of(row.a, row.a).any(is_round_matrix);
    let repeats = caps.machine.compile_seconds.is_some()
        && problem.epilogue.activation != Activation::None
        && tile.tm * tile.tn > row.m * row.n;
    if stores_matrices(problem) && has_matrices && !repeats { LineEpilogue::of(problem) } else { None }
}

/// The number of stages and bytes of shared memory of a tile. The buffer of results has one matrix of sums per subgroup, each row
/// padded by four elements.
fn shared(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> [u32; 2] {
    let output = row(tile, problem, caps).map_or(0, |row| {
        let lines = match direct(row, tile, problem, caps) {
            _ if !finishes_matrices(problem) => 0,
            Some(lines) => lines.bytes([tile.bm, tile.bn]),
            None => 16,
        };
        tile.tiles_per_block() * row.m * (row.n + 4) * 4 + lines + windows::table_bytes(tile, problem)
    });
    stages(tile, output, problem, caps)
}

impl KernelSpec for CoopKhr {
    fn shader(&self) -> &'static str {
        "spirv/gemm_coop_khr"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    fn admits(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        module(problem)?;
        check_depth_of_segments(tile, problem)?;
        module_epilogue::check_module(problem, caps)?;
        let row = row(tile, problem, caps)?;
        check_depth(tile, problem)?;
        let is_chosen = problem.pin.leaves_a_choice();
        if is_chosen && row.is_spelled_in_wgsl() && short_sums(row, problem, caps).is_none() {
            return Err("a row that WGSL cannot express, unless it is pinned: `coop` has the others".into());
        }
        if let Some(why) = caps.slowness(row).filter(|_| is_chosen) {
            return Err(why);
        }
        check_accumulators(self.accumulators(tile, problem, caps), problem, caps)?;
        check_units(tile, problem, caps)
    }

    fn is_staged(&self) -> bool {
        true
    }

    fn has_epilogue(&self, problem: &GemmProblem) -> bool {
        module_epilogue::is_known(problem)
            && (module_epilogue::stores_elements(problem)
                || (problem.segments().is_none() && module_epilogue::stores_words(problem)))
    }

    fn invocations(&self, tile: &Tile, caps: &Caps) -> u32 {
        tile.tiles_per_block() * caps.matrix_lanes()
    }

    fn accumulators(&self, tile: &Tile, _: &GemmProblem, caps: &Caps) -> u32 {
        tile.tm * tile.tn / caps.matrix_lanes()
    }

    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        let [_, bytes] = shared(tile, problem, caps);
        bytes
    }

    /// As `coop`, because the structure is the same; bf16 is moved and multiplied like f16. Each sum of f16 is converted and added
    /// to a sum of f32.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        if has_8_bits(problem) {
            let cost = if problem.types.ab == DType::I8 {
                Cost::of_blocks(tile, problem, caps, ComputeUnit::IntegerMatrix)
            } else {
                let peak = caps.machine.fp8_matrix_flops;
                Cost { peak, ..Cost::of_blocks(tile, problem, caps, ComputeUnit::Matrix) }
            };
            // A read of f16 takes the bytes of two elements.
            let weight = caps.machine.matrix_read_weight() * cost.peak / caps.machine.matrix_flops / 2.0;
            return Cost { read_weights: [weight; 2], ..cost };
        }
        let c = if problem.types.c == DType::Bf16 { DType::F16 } else { problem.types.c };
        let in_f16 = GemmProblem { types: GemmTypes { ab: DType::F16, c, ..problem.types }, ..*problem };
        let coop = Tile { kernel: GemmKernel::Coop, fragment: 16, ..*tile };
        let cost = Coop.cost(&coop, &in_f16, caps);
        match row(tile, problem, caps).ok().filter(|row| short_sums(row, problem, caps).is_some()) {
            Some(row) => cost.in_short_sums(row.k, caps),
            None => cost,
        }
    }

    fn generation_flops(&self, tile: &Tile, problem: &GemmProblem) -> Flops {
        match problem.sign_half_of_b() {
            // A sign is a bit of the number.
            Some(signs) => {
                let units = Signs::Units(signs.staged_axis(problem));
                Flops { f32: 0.0, ..generated::flops(tile, problem, units) }
            }
            None => generated::flops(tile, problem, Signs::Units(OperandAxis::Outer)),
        }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let (ab, c, shader) = module(problem).unwrap_or((CoopScalar::F16, CoopScalar::F32, self.shader()));
        let row = row(tile, problem, caps).ok();
        let [m, n, k] = row.map_or([0; 3], |row| [row.m, row.n, row.k]);
        let is_direct = row.is_some_and(|row| direct(row, tile, problem, caps).is_some());
        let short = row.and_then(|row| short_sums(row, problem, caps));
        let [stages, _] = shared(tile, problem, caps);
        let kernel = match problem.segments() {
            Some(segments) => module_epilogue::bind_segments(Kernel::new(shader), &segments, problem, caps),
            None => {
                let kernel = module_epilogue::bind(Kernel::new(shader), problem, caps);
                module_epilogue::bind_axis_of_bias(kernel, problem)
            }
        };
        let kernel = match problem.sign_half_of_b() {
            Some(signs) => signs.params(kernel),
            None => kernel,
        };
        let kernel = match problem.window_b() {
            Some(b) => kernel
                .param("B_READS", b as u32)
                .param("GROUPS", u32::from(problem.has_groups()))
                .param("DEPTH", u32::from(problem.volumes().is_some())),
            None => kernel,
        };
        let kernel = match short {
            Some(short) => kernel.param("SUMS_IN_F16", 1).require_matrices(short),
            None => kernel,
        };
        let kernel = kernel
            .param("LANES", self.invocations(tile, caps))
            .param("SUBGROUP", caps.matrix_lanes())
            .param("M", m)
            .param("N", n)
            .param("K", k);
        module_operands::bind(kernel, stages, tile, problem, caps)
            .param("C_DIRECT", u32::from(is_direct))
            .require_subgroup_size(caps.matrix_lanes())
            .require_matrices(Matrices::of_subgroup([m, n, k], ab, c))
            .report_subgroup_size(caps)
    }

    fn describe(&self, tile: &Tile) -> String {
        let Tile { bm, bn, bk, tm, tn, .. } = tile;
        format!("{bm}x{bn}x{bk} ({tm}x{tn} per subgroup)")
    }
}
