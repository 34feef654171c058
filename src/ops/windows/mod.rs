//! Steps that join the windows of operations: copies and sums.

use crate::Result;
use crate::layout::DType;
use crate::ops::copy::copy_part;
use crate::ops::{ReduceFunction, ReduceProblem};
use crate::plan::{Draft, Joins, Problem, Region};

/// Copies of windows, and sums of f32.
pub(crate) const JOINS: Joins = Joins { copy: Some(copy_part), sum: Some(sum_parts) };

fn sum_parts(draft: &mut Draft<'_>, parts: Region, to: Region) -> Result<()> {
    let sum = ReduceProblem::new(ReduceFunction::Sum, &parts.layout, &[0], DType::F32)?.in_one_step();
    draft.call(sum.plan(draft.caps())?, &[parts, to], &[])
}
