//! The cooperative matrices of the modules of attention, which change their elements in registers: the row, and the variant of
//! a module.

use super::coop::{MOST_DIM, SUBGROUPS, check_head_dims};
use super::problem::AttentionProblem;
use crate::caps::{Caps, CoopRow, CoopScalar, CoopScope, Matrices, MatrixOrder};
use crate::kernel::Kernel;
use crate::layout::DType;
use crate::ops::vectors::Moves;

/// The variants of a module for f16, then those for bf16: on matrices of flexible size, on those of exact sizes, and on these by the
/// functions of `VK_EXT_cooperative_matrix_maintenance1`.
pub(super) type Variants = [[&'static str; 3]; 2];

/// The scalar type of operands on matrices.
fn scalar(dtype: DType) -> Result<CoopScalar, String> {
    match dtype {
        DType::F16 => Ok(CoopScalar::F16),
        DType::Bf16 => Ok(CoopScalar::Bf16),
        other => Err(format!("operands of f16 or bf16, not {other}")),
    }
}

/// The variant of a module for a device.
pub(super) fn variant(variants: &Variants, dtype: DType, caps: &Caps) -> &'static str {
    let is_flexible = row(dtype, caps).is_ok_and(CoopRow::is_flexible);
    let [flexible, exact, maintenance1] = variants[usize::from(dtype == DType::Bf16)];
    match (is_flexible, caps.extensions.maintenance1) {
        (true, _) => flexible,
        (false, true) => maintenance1,
        (false, false) => exact,
    }
}

/// The row that the modules use: the row of multiples with the smallest matrices, or else a row of exact sizes.
///
/// # Errors
/// The missing requirement, in words.
pub(super) fn row(dtype: DType, caps: &Caps) -> Result<&CoopRow, String> {
    let ab = scalar(dtype)?;
    let rows = caps.flexible_rows_of(ab, CoopScalar::F32, CoopScope::Subgroup);
    let flexible = rows.filter(|row| row.is_used_in_spirv()).min_by_key(|row| row.m * row.n * row.k);
    if let Some(row) = flexible {
        return Ok(row);
    }
    let is_it =
        |row: &&CoopRow| row.is_flexible() && (row.a, row.c) == (ab, CoopScalar::F32) && row.is_fenced_off();
    // The missing feature may be functions of elements, which exact matrices need as well.
    if let Some(row) = caps.rows.iter().find(is_it) {
        return Err(format!("cooperative matrices {row}"));
    }
    exact_row(ab, caps).ok_or_else(|| {
        format!(
            "cooperative matrices {ab} x {ab} -> f32 of flexible size, or with n = k and functions of elements, \
             which the adapter does not list"
        )
    })
}

/// The row of exact sizes whose sums can be converted to an operand. If there are several, the row with the largest matrices,
/// because one instruction multiplies more. None if the device has no functions of elements.
fn exact_row(ab: CoopScalar, caps: &Caps) -> Option<&CoopRow> {
    let has_functions = caps.extensions.maintenance1 || caps.extensions.flexible;
    let rows = caps.rows_of(ab, CoopScalar::F32).filter(|row| row.is_used_in_spirv() && row.n == row.k);
    rows.max_by_key(|row| row.m * row.n * row.k).filter(|_| has_functions)
}

/// Checks that a device has modules, immediates of this number of bytes, and matrices of the problem's type.
pub(super) fn check_device(problem: &AttentionProblem, dims_bytes: u32, caps: &Caps) -> Result<(), String> {
    scalar(problem.dtype)?;
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
    let d = problem.dims();
    let limits = caps.flexible_limits.filter(|_| row(problem.dtype, caps).is_ok_and(CoopRow::is_flexible));
    let most = limits.map_or(MOST_DIM, |limits| limits.dimension.min(MOST_DIM));
    let of = chunk(problem.dtype, caps);
    check_head_dims([d.dim, d.dim_v], of, most)?;
    if !columns.is_multiple_of(of) {
        return Err(format!("matrices of multiples of {of} columns, not {columns}"));
    }
    Ok(())
}

/// The number of four-byte registers for a row of a 16-bit operand. AMD's matrix units need each element twice.
pub(super) fn operand(dim: u32, caps: &Caps) -> u32 {
    match caps.machine.matrix_order {
        MatrixOrder::Any => dim / 2,
        MatrixOrder::AlongK => dim,
    }
}

/// Columns of a matrix of operands and sums: those of the driver's row, so that few are loaded at once.
pub(super) fn chunk(dtype: DType, caps: &Caps) -> u32 {
    row(dtype, caps).map_or(8, |row| row.n.max(row.k).max(8))
}

/// Rows of a subgroup.
///
/// NOTE: this must be the row's m: Mesa 26.1 reduces rows of taller matrices over wrong blocks
/// (`findings/mesa_reductions_of_several_blocks.sh`).
pub(super) fn rows(dtype: DType, caps: &Caps) -> u32 {
    row(dtype, caps).map_or(1, |row| row.m)
}

/// `flexible matrices`, or `matrices of 16x16x16`.
pub(super) fn described(dtype: DType, caps: &Caps) -> String {
    match row(dtype, caps) {
        Ok(CoopRow { m, n, k, .. }) if !row(dtype, caps).is_ok_and(CoopRow::is_flexible) => {
            format!("matrices of {m}x{n}x{k}")
        }
        _ => "flexible matrices".to_owned(),
    }
}

/// A module with the sizes of an attention, for tiles of this number of columns.
pub(super) fn module_sizes(kernel: Kernel, problem: &AttentionProblem, columns: u32, caps: &Caps) -> Kernel {
    let (d, dtype) = (problem.dims(), problem.dtype);
    let kernel = kernel
        .param("LANES", SUBGROUPS * caps.matrix_lanes())
        .param("SUBGROUP", caps.matrix_lanes())
        .param("BR", rows(dtype, caps))
        .param("BC", columns)
        .param("D", d.dim)
        .param("DV", d.dim_v)
        .param("CHUNK", chunk(dtype, caps))
        .require_subgroup_size(caps.matrix_lanes())
        .report_subgroup_size(caps);
    match row(dtype, caps) {
        Ok(row) => kernel.require_matrices(Matrices::of(row)),
        Err(_) => kernel,
    }
}

/// A module that moves its operands in this way, with the masks of an attention.
pub(super) fn module_masks(kernel: Kernel, problem: &AttentionProblem, moves: Moves) -> Kernel {
    kernel
        .param("BY_UNITS", u32::from(moves == Moves::Vectors))
        .param("BIAS", u32::from(problem.bias.is_some()))
        .param("LENGTHS", u32::from(problem.lengths.is_some()))
        .param("KEEPS", u32::from(problem.keep.is_some()))
        .param("SLOPES", u32::from(problem.slopes.is_some()))
}
