//! The kernel of attention on cooperative matrices of flexible size, whose elements it changes in registers:
//! `shaders/spirv/attention_nv2.comp`, for f16 and bf16.

use super::coop::{self, MOST_DIM, MOST_PRODUCTS, OTHER_REGISTERS, SUBGROUPS, subgroup};
use super::problem::{AttentionCorner, AttentionDims, AttentionProblem, AttentionStatistics};
use crate::caps::{Caps, CoopRow, CoopScalar, CoopScope, Matrices, MatrixOrder};
use crate::kernel::{Kernel, Needs};
use crate::layout::DType;
use crate::ops::vectors::Moves;
use crate::plan::Prediction;
use std::fmt;

/// The tile of a subgroup. Its matrices have as many rows as the driver's row has (m), and as many columns as there are keys at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nv2Tile {
    /// Keys whose scores a subgroup has at once.
    keys: u32,
}

const TILES: [Nv2Tile; 4] =
    [Nv2Tile { keys: 64 }, Nv2Tile { keys: 32 }, Nv2Tile { keys: 16 }, Nv2Tile { keys: 8 }];
/// Bindings of the module. For operands that the problem does not have, a word is bound.
const BINDINGS: u32 = 9;
/// Bytes of the module's dims: those of every attention, and the first workgroup of a launch.
#[expect(clippy::cast_possible_truncation, reason = "it is small")]
const DIMS_BYTES: u32 = size_of::<AttentionDims>() as u32 + 4;
/// Numbers of each score that a subgroup holds: the score, its weight, the largest one of its row, and one on its way.
const NUMBERS_OF_SCORE: u32 = 4;
/// The most registers of an invocation, as they are counted here: of 224, Mesa 26.1.6 spilled 33 on navi31; of 192 it did not (`tests/isa`).
pub(super) const MOST_REGISTERS: u32 = 210;

/// The scalar type of operands on matrices, and the module.
fn module(dtype: DType) -> Result<(CoopScalar, &'static str), String> {
    match dtype {
        DType::F16 => Ok((CoopScalar::F16, "spirv/attention_nv2.f16")),
        DType::Bf16 => Ok((CoopScalar::Bf16, "spirv/attention_nv2.bf16")),
        other => Err(format!("operands of f16 or bf16, not {other}")),
    }
}

/// The row that the kernel uses: of several, that of the smallest matrices.
pub(super) fn row(dtype: DType, caps: &Caps) -> Result<&CoopRow, String> {
    let (ab, _) = module(dtype)?;
    let rows = caps.flexible_rows_of(ab, CoopScalar::F32, CoopScope::Subgroup);
    let used = rows.filter(|row| row.is_used_in_spirv()).min_by_key(|row| row.m * row.n * row.k);
    used.ok_or_else(|| {
        let is_it = |row: &&CoopRow| {
            row.is_flexible() && (row.a, row.c) == (ab, CoopScalar::F32) && row.is_fenced_off()
        };
        match caps.rows.iter().find(is_it) {
            Some(row) => format!("cooperative matrices {row}"),
            None => {
                format!("cooperative matrices of flexible size {ab} x {ab} -> f32, which the adapter does not list")
            }
        }
    })
}

/// Checks that a device has modules, immediates of as many bytes, and flexible matrices of the problem's type.
pub(super) fn check_device(problem: &AttentionProblem, dims_bytes: u32, caps: &Caps) -> Result<(), String> {
    module(problem.dtype)?;
    if !caps.spirv {
        return Err("modules of SPIR-V, which need Vulkan".into());
    }
    let row = row(problem.dtype, caps)?;
    if let Some(why) = caps.slowness(row).filter(|_| problem.pin.is_none()) {
        return Err(why);
    }
    if caps.limits.immediate_bytes < dims_bytes {
        return Err(format!("{dims_bytes} bytes of immediates"));
    }
    Ok(())
}

/// Checks that head dims and the columns of a tile are multiples of a row's sizes.
pub(super) fn check_dims(problem: &AttentionProblem, columns: u32, caps: &Caps) -> Result<(), String> {
    let d = &problem.dims;
    let most = caps.flexible_limits.map_or(MOST_DIM, |limits| limits.dimension.min(MOST_DIM));
    let of = chunk(problem.dtype, caps);
    if [d.dim, d.dim_v].iter().any(|&dim| !dim.is_multiple_of(of) || dim > most) {
        let dims = if d.dim == d.dim_v { d.dim.to_string() } else { format!("{} and {}", d.dim, d.dim_v) };
        return Err(format!("head dims that are multiples of {of} up to {most}, not {dims}"));
    }
    if !columns.is_multiple_of(of) {
        return Err(format!("matrices of multiples of {of} columns, not {columns}"));
    }
    Ok(())
}

impl Nv2Tile {
    /// The tiles, from large to small.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        TILES.into_iter()
    }

    /// The limits that a launch needs.
    pub(super) fn needs(self, problem: &AttentionProblem, caps: &Caps) -> Needs {
        let (d, rows) = (&problem.dims, rows(problem, caps));
        // Rows of an odd number of units of 16 bytes.
        let unit = |dim: u32| 16 * ((dim / 8) | 1);
        let block = SUBGROUPS * rows;
        let weights = 4 * block * (self.keys + 4);
        Needs {
            bindings: BINDINGS,
            invocations: SUBGROUPS * subgroup(caps),
            workgroup_bytes: self.keys.max(block) * unit(d.dim)
                + self.keys * unit(d.dim_v)
                + weights
                + 4 * SUBGROUPS,
        }
    }

    /// Whether the device can compute the problem with this tile.
    ///
    /// # Errors
    /// What is missing, in words.
    pub(super) fn fits(self, problem: &AttentionProblem, caps: &Caps) -> Result<(), String> {
        let d = &problem.dims;
        check_device(problem, DIMS_BYTES, caps)?;
        check_dims(problem, self.keys, caps)?;
        let row = row(problem.dtype, caps)?;
        let products = (d.dim + d.dim_v) * row.m * self.keys / 512;
        if products > MOST_PRODUCTS && caps.machine.compile_seconds.is_some() {
            return Err(format!("a GPU: a software driver would compile {products} products for minutes"));
        }
        let registers = self.registers(problem, caps);
        if registers > MOST_REGISTERS && caps.machine.compile_seconds.is_none() {
            return Err(format!("{registers} registers per invocation, which a GPU would spill"));
        }
        self.needs(problem, caps).fit(caps)
    }

    /// The registers of an invocation: its share of the rows of Q, of what is known of scores, of sums, and others.
    fn registers(self, problem: &AttentionProblem, caps: &Caps) -> u32 {
        let d = &problem.dims;
        let numbers = operand(d.dim, caps) + NUMBERS_OF_SCORE * self.keys + d.dim_v;
        rows(problem, caps) * numbers / subgroup(caps) + OTHER_REGISTERS
    }

    /// The number of workgroups.
    pub(super) fn blocks(self, problem: &AttentionProblem, caps: &Caps) -> u64 {
        coop::blocks(rows(problem, caps), problem)
    }

    /// The predicted time: that of the kernel in WGSL, until one is measured on a GPU.
    pub(super) fn predict(self, problem: &AttentionProblem, caps: &Caps) -> Prediction {
        coop::predict([rows(problem, caps), self.keys], problem, caps)
    }

    /// The kernel.
    pub(super) fn kernel(self, problem: &AttentionProblem, caps: &Caps) -> Kernel {
        let d = &problem.dims;
        let shader = module(problem.dtype).map_or("spirv/attention_nv2.f16", |(_, shader)| shader);
        let kernel = Kernel::new(shader)
            .dims(caps, size_of::<AttentionDims>())
            .param("LANES", SUBGROUPS * subgroup(caps))
            .param("SUBGROUP", subgroup(caps))
            .param("BR", rows(problem, caps))
            .param("BC", self.keys)
            .param("D", d.dim)
            .param("DV", d.dim_v)
            .param("CHUNK", chunk(problem.dtype, caps))
            .param("BY_UNITS", u32::from(problem.moves() == Moves::Vectors))
            .param("BIAS", u32::from(problem.bias.is_some()))
            .param("LENGTHS", u32::from(problem.lengths.is_some()))
            .param("KEEPS", u32::from(problem.keep.is_some()))
            .param("SLOPES", u32::from(problem.slopes.is_some()))
            .param("CORNER_MOVES", u32::from(problem.corner == AttentionCorner::Lengths))
            .param("STATISTICS", u32::from(problem.statistics == AttentionStatistics::LogSums))
            .require_subgroup_size(subgroup(caps))
            .report_subgroup_size(caps);
        row(problem.dtype, caps).map_or(kernel.clone(), |row| kernel.require_matrices(Matrices::of(row)))
    }
}

/// Numbers of four bytes that hold a row of an operand of 16 bits. AMD's matrix units want each element twice.
pub(super) fn operand(dim: u32, caps: &Caps) -> u32 {
    match caps.machine.matrix_order {
        MatrixOrder::Any => dim / 2,
        MatrixOrder::AlongK => dim,
    }
}

/// Columns of a matrix of operands and sums: as few as a row has, so that few are loaded at once.
pub(super) fn chunk(dtype: DType, caps: &Caps) -> u32 {
    row(dtype, caps).map_or(8, |row| row.n.max(row.k).max(8))
}

/// Rows of a subgroup.
///
/// NOTE: the row's own m: Mesa 26.1 reduces rows of taller matrices over wrong blocks (`findings/mesa_reductions_of_several_blocks.sh`).
fn rows(problem: &AttentionProblem, caps: &Caps) -> u32 {
    row(problem.dtype, caps).map_or(1, |row| row.m)
}

/// `32 keys per subgroup, of flexible matrices`
impl fmt::Display for Nv2Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys per subgroup, of flexible matrices", self.keys)
    }
}
