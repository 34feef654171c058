//! Split-k reduction: the launch that adds the sums of all splits and applies the epilogue.

use super::store::store;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{GemmDims, GemmProblem};
use crate::kernel::{Kernel, Needs};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region, ScalarParameter};
use std::mem::offset_of;

/// Invocations per workgroup. Each computes four elements of a row.
const LANES: u32 = 64;

/// Predicted seconds of the launch of a reduction: it reads the sums and writes C.
pub(in crate::gemm) fn seconds(problem: &GemmProblem, splits: u32, caps: &Caps) -> f64 {
    let bytes = problem.elements() as f64 * (4.0 * f64::from(splits) + problem.types.c.size() as f64);
    caps.machine.launch_seconds + bytes / caps.machine.memory_bandwidth
}

/// Adds the reduction to a plan. `sums` holds one copy of C for each split, one after another; `extras` are the epilogue's
/// operands.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) or [`Error::Unsupported`](crate::Error::Unsupported) if the device cannot run it.
pub(in crate::gemm) fn step(
    draft: &mut Draft<'_>,
    problem: &GemmProblem,
    splits: u32,
    [sums, c]: [Region; 2],
    extras: &[Region],
) -> Result<()> {
    let caps = draft.caps();
    let kernel = problem.bind_epilogue_dims(Kernel::new("gemm/reduce_splits"), caps).param("LANES", LANES);
    let kernel = if problem.types.ab.is_float() { kernel } else { kernel.param("accumulator", "i32") };
    let kernel = problem.bind_sums(kernel);
    let rows = u64::from(problem.batches()) * u64::from(problem.m());
    let quads = rows * u64::from(problem.n().div_ceil(4));
    let c = (c, problem.access_of_c());
    let extras = extras.iter().map(|&extra| (extra, Access::Read));
    let additions = problem.elements() as f64 * f64::from(splits);
    let args: Vec<(Region, Access)> = [(sums, Access::Read), c].into_iter().chain(extras).collect();
    draft.step(NewStep {
        tile: format!("{LANES} times 4 elements"),
        blocks: quads.div_ceil(u64::from(LANES)),
        dims: problem.epilogue_dims(splits, draft),
        flops: if problem.types.ab.is_float() {
            Flops::of_f32(additions)
        } else {
            Flops::of_integers(additions)
        },
        ..NewStep::of(store(kernel, problem, 2, caps), needs(problem), &args)
    })
}

/// The limits that the reduction needs: bindings for the sums, C and the epilogue.
pub(in crate::gemm) fn needs(problem: &GemmProblem) -> Needs {
    Needs { bindings: 2 + problem.extra_bindings(), invocations: LANES, workgroup_bytes: 0 }
}

/// Adds a step that adds `splits` arrays of `elements` each, as if they were the splits of one row of C, and multiplies the
/// total by this scalar of the call.
pub(crate) fn reduce_splits(
    draft: &mut Draft<'_>,
    [elements, splits]: [u32; 2],
    factor: ScalarParameter,
    [sums, total]: [Region; 2],
) -> Result<()> {
    let dims =
        GemmDims { m: 1, n: elements, batches: 1, batch1: 1, splits, ldc: elements, ..GemmDims::default() };
    let kernel = Kernel::new("gemm/reduce_splits").dims::<GemmDims>(draft.caps());
    draft.step(NewStep {
        tile: format!("{LANES} times 4 elements"),
        blocks: u64::from(elements).div_ceil(4).div_ceil(u64::from(LANES)),
        dims: draft.put(Dims::of(&dims), factor, offset_of!(GemmDims, alpha)),
        flops: Flops::of_f32(f64::from(elements) * f64::from(splits)),
        ..NewStep::of(
            kernel.param("LANES", LANES).slot("epilogue", "forms"),
            Needs::of(LANES, 0),
            &[(sums, Access::Read), (total, Access::Write)],
        )
    })
}
