//! The `coop_nv2` kernel: modules of SPIR-V on cooperative matrices of flexible size (`VK_NV_cooperative_matrix2`), for f16, bf16 and i8.
//! A subgroup or a whole workgroup holds all its sums as one matrix.

use super::coop::Coop;
use super::coop_khr::CoopKhr;
use super::cost::Cost;
use super::fits::check_fit;
use super::module_epilogue::{self, is_rounded};
use super::module_operands;
use super::spec::{KernelSpec, in_memory};
use super::stage::{OperandAxis, OperandLines};
use crate::caps::{Caps, CoopRow, CoopScalar, CoopScope, Matrices, RowSizes};
use crate::gemm::problem::{Accumulator, GemmKernel, GemmProblem, GemmTypes, Tile};
use crate::kernel::Kernel;
use crate::layout::DType;

pub(super) struct CoopNv2;

/// Blocks of [`CoopKhr`]. Each of the first six is one matrix of the whole workgroup. In the others, each subgroup tile is one
/// matrix of a subgroup.
const TILES: [Tile; 13] = [
    Tile::of_workgroup([128, 256, 16]),
    Tile::of_workgroup([256, 128, 16]),
    Tile::of_workgroup([128, 128, 64]),
    Tile::of_workgroup([64, 64, 64]),
    Tile::of_workgroup([128, 128, 32]),
    Tile::of_workgroup([64, 64, 32]),
    Tile::of_invocations(GemmKernel::CoopNv2, [128, 256, 16], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopNv2, [256, 128, 16], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopNv2, [128, 128, 64], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopNv2, [64, 64, 64], [32, 32]),
    Tile::of_invocations(GemmKernel::CoopNv2, [128, 128, 32], [64, 64]),
    Tile::of_invocations(GemmKernel::CoopNv2, [64, 64, 32], [32, 32]),
    Tile::of_invocations(GemmKernel::CoopNv2, [32, 32, 32], [16, 16]),
];

/// Invocations of a workgroup that holds a block of at most 128 x 128 as one matrix. Larger blocks have twice as many.
const WORKGROUP: u32 = 128;

impl Tile {
    /// A block that is one matrix of a workgroup.
    const fn of_workgroup([bm, bn, bk]: [u32; 3]) -> Self {
        Self::of_invocations(GemmKernel::CoopNv2, [bm, bn, bk], [bm, bn])
    }
}

/// Who holds the matrices of a tile.
fn scope(tile: &Tile) -> CoopScope {
    if tile.tiles_per_block() == 1 { CoopScope::Workgroup } else { CoopScope::Subgroup }
}

/// The same block of `coop_khr`. A block that is one matrix of a workgroup is divided into tiles for the workgroup's
/// subgroups of 32.
fn twin(tile: &Tile) -> Tile {
    let [tm, tn] = match scope(tile) {
        CoopScope::Workgroup => [(tile.bm / 2).min(64), (tile.bn / 2).min(64)],
        CoopScope::Subgroup => [tile.tm, tile.tn],
    };
    Tile { kernel: GemmKernel::CoopKhr, tm, tn, ..*tile }
}

/// The invocations of a workgroup that holds its block as one matrix.
fn workgroup(tile: &Tile) -> u32 {
    if tile.bm * tile.bn > 128 * 128 { 2 * WORKGROUP } else { WORKGROUP }
}

/// The types of A and B, and of the sums, of the rows that a product can use, and its modules on matrices of a subgroup and of a workgroup.
fn modules(ab: DType) -> Result<(CoopScalar, CoopScalar, [&'static str; 2]), String> {
    use CoopScalar::{Bf16, F16, F32, I8, I32};
    match ab {
        DType::F16 => {
            Ok((F16, F32, ["spirv/gemm_coop_nv2.subgroup.f16", "spirv/gemm_coop_nv2.workgroup.f16"]))
        }
        DType::Bf16 => {
            Ok((Bf16, F32, ["spirv/gemm_coop_nv2.subgroup.bf16", "spirv/gemm_coop_nv2.workgroup.bf16"]))
        }
        DType::I8 => Ok((I8, I32, ["spirv/gemm_coop_nv2.subgroup.i8", "spirv/gemm_coop_nv2.workgroup.i8"])),
        other => Err(format!("operands of f16, bf16 or i8, not {other}")),
    }
}

/// Whether a tile's matrices are multiples of the row's sizes, held by the row's number of invocations.
fn fills(tile: &Tile, row: &CoopRow) -> bool {
    let invocations = match scope(tile) {
        CoopScope::Workgroup => workgroup(tile),
        CoopScope::Subgroup => 0,
    };
    let parts = [(tile.tm, row.m), (tile.tn, row.n), (tile.bk, row.k)];
    row.sizes == RowSizes::Multiples { invocations }
        && parts.iter().all(|(whole, part)| whole.is_multiple_of(*part))
}

/// The row of a tile: the largest one whose sizes the tile fills and that is not slow.
fn row<'a>(tile: &Tile, problem: &GemmProblem, caps: &'a Caps) -> Result<&'a CoopRow, String> {
    let (ab, c, _) = modules(problem.types.ab)?;
    let scope = scope(tile);
    let rows = caps.flexible_rows_of(ab, c, scope).filter(|row| fills(tile, row));
    let largest = rows.max_by_key(|row| (caps.slowness(row).is_none(), row.m * row.n * row.k));
    largest.ok_or_else(|| {
        let is_meant =
            |row: &CoopRow| [row.a, row.b, row.c] == [ab, ab, c] && row.scope == scope && fills(tile, row);
        module_operands::missing(caps, &format!("of flexible size {ab} x {ab} -> {c} ({scope})"), is_meant)
    })
}

/// Whether a subgroup's or a workgroup's sums can be rounded to the type of A and B as one matrix.
fn rounds(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> bool {
    let Ok((ab, _, _)) = modules(problem.types.ab) else { return false };
    caps.flexible_rows_of(ab, ab, scope(tile)).any(|row| fills(tile, row))
}

/// How a matrix of a workgroup is read: along the outer axis (1) if that is contiguous, otherwise along k.
fn along_outer(lines: &OperandLines) -> u32 {
    u32::from(lines.is_contiguous(OperandAxis::Outer) && !lines.is_contiguous(OperandAxis::K))
}

/// Checks that `coop` or `coop_khr` could compute the product in the same block. Only then may a plan choose this kernel without a
/// pin, because its predicted speed is theirs.
fn check_twin(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
    let khr = twin(tile);
    let wgsl = Tile { kernel: GemmKernel::Coop, fragment: 16, ..khr };
    let twins: [(&dyn KernelSpec, Tile); 2] = [(&CoopKhr, khr), (&Coop, wgsl)];
    let fits = |(spec, tile): &(&dyn KernelSpec, Tile)| {
        spec.tiles().contains(tile) && check_fit(*spec, tile, problem, caps).is_ok()
    };
    if twins.iter().any(fits) {
        return Ok(());
    }
    Err("a product that `coop` or `coop_khr` computes in the same blocks, unless it is pinned".into())
}

impl CoopNv2 {
    /// The module on matrices of a workgroup; it does not stage operands.
    fn of_workgroup(tile: &Tile, problem: &GemmProblem, shader: &'static str, caps: &Caps) -> Kernel {
        let [a, b] = OperandLines::of(problem).map(|lines| along_outer(&lines));
        module_epilogue::bind(Kernel::new(shader), problem, caps)
            .param("LANES", workgroup(tile))
            .param("BM", tile.bm)
            .param("BN", tile.bn)
            .param("BK", tile.bk)
            .param("a_OUTER", a)
            .param("b_OUTER", b)
    }

    /// The module on matrices of a subgroup.
    fn of_subgroup(&self, tile: &Tile, problem: &GemmProblem, shader: &'static str, caps: &Caps) -> Kernel {
        let [stages, _] = module_operands::stages(tile, 0, problem, caps);
        let has_matrices = !is_rounded(problem) || rounds(tile, problem, caps);
        let kernel = module_epilogue::bind(Kernel::new(shader), problem, caps)
            .param("LANES", self.invocations(tile, caps));
        module_operands::bind(kernel, stages, tile, problem, caps)
            .param("C_DIRECT", u32::from(has_matrices && module_epilogue::stores_matrices(problem)))
            .require_subgroup_size(caps.matrix_lanes())
            .report_subgroup_size(caps)
    }
}

impl KernelSpec for CoopNv2 {
    fn shader(&self) -> &'static str {
        "spirv/gemm_coop_nv2"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    fn admits(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        in_memory(problem)?;
        modules(problem.types.ab)?;
        module_epilogue::check_module(problem, caps)?;
        let row = row(tile, problem, caps)?;
        module_operands::check_depth(tile, problem)?;
        let longest = tile.tm.max(tile.tn).max(tile.bk);
        if caps.flexible_limits.is_none_or(|limits| limits.dimension < longest) {
            return Err(format!("{longest} rows of a cooperative matrix of flexible size"));
        }
        match scope(tile) {
            CoopScope::Workgroup if is_rounded(problem) && !rounds(tile, problem, caps) => {
                let ab = problem.types.ab;
                return Err(format!(
                    "C of other types than {ab}, as the adapter lists no row with sums of {ab}"
                ));
            }
            CoopScope::Workgroup => {}
            CoopScope::Subgroup => module_operands::check_units(tile, problem, caps)?,
        }
        module_operands::check_accumulators(self.accumulators(tile, problem, caps), problem, caps)?;
        if !problem.pin.leaves_a_choice() {
            return Ok(());
        }
        if caps.machine.compile_seconds.is_some() {
            return Err("a GPU, unless it is pinned, as software devices emulate matrices".into());
        }
        caps.slowness(row).map_or(Ok(()), Err)?;
        check_twin(tile, problem, caps)
    }

    fn has_epilogue(&self, problem: &GemmProblem) -> bool {
        module_epilogue::is_known(problem) && module_epilogue::stores_elements(problem)
    }

    fn invocations(&self, tile: &Tile, caps: &Caps) -> u32 {
        match scope(tile) {
            CoopScope::Workgroup => workgroup(tile),
            CoopScope::Subgroup => tile.tiles_per_block() * caps.matrix_lanes(),
        }
    }

    fn accumulators(&self, tile: &Tile, _: &GemmProblem, caps: &Caps) -> u32 {
        tile.bm * tile.bn / self.invocations(tile, caps)
    }

    /// None for a workgroup's matrices: the driver reserves `FlexibleLimits::reserved_bytes`.
    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        match scope(tile) {
            CoopScope::Workgroup => 0,
            CoopScope::Subgroup => module_operands::stages(tile, 0, problem, caps)[1],
        }
    }

    /// The predicted time is that of the same block of `coop_khr`, because this kernel was not timed on a GPU. In llama.cpp,
    /// products on matrices of a workgroup took 0.74 of the time of those on matrices of a subgroup (ggml-org/llama.cpp#13506, RTX
    /// 3090); that says nothing about these two kernels. If predicted times are equal, a plan takes the first kernel of
    /// [`GemmKernel::ALL`]. So a plan takes this one only if it is pinned or was the fastest when measured.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let types = GemmTypes { accumulator: Accumulator::F32, ..problem.types };
        CoopKhr.cost(&twin(tile), &GemmProblem { types, ..*problem }, caps)
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let [subgroup, workgroup] =
            modules(problem.types.ab).map_or([self.shader(); 2], |(_, _, names)| names);
        let kernel = match scope(tile) {
            CoopScope::Workgroup => Self::of_workgroup(tile, problem, workgroup, caps),
            CoopScope::Subgroup => self.of_subgroup(tile, problem, subgroup, caps),
        };
        match row(tile, problem, caps) {
            Ok(row) => kernel.require_matrices(Matrices::of(row)),
            Err(_) => kernel, // of a tile that is not admitted
        }
    }

    fn describe(&self, tile: &Tile) -> String {
        let Tile { bm, bn, bk, tm, tn, .. } = tile;
        match scope(tile) {
            CoopScope::Workgroup => format!("{bm}x{bn}x{bk} (one matrix)"),
            CoopScope::Subgroup => format!("{bm}x{bn}x{bk} ({tm}x{tn} per subgroup)"),
        }
    }
}
