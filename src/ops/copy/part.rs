//! Copies within plans.

use super::problem::CopyProblem;
use crate::Result;
use crate::plan::{Draft, Problem, Region};

/// Adds the copy of a region to another one of the same shape and type.
pub(in crate::ops) fn copy_part(draft: &mut Draft<'_>, from: Region, to: Region) -> Result<()> {
    let problem = CopyProblem::new(&from.layout, &to.layout, to.dtype)?;
    draft.call(problem.plan(draft.caps())?, &[to, from], &[])
}
