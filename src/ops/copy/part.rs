//! Copies within plans.

use super::ordered::order;
use super::problem::CopyProblem;
use crate::Result;
use crate::plan::{Draft, Problem, Region};

/// Adds the copy of a region to another one of the same shape and type.
pub(in crate::ops) fn copy_part(draft: &mut Draft<'_>, from: Region, to: Region) -> Result<()> {
    let order = order(&to.layout);
    let [from, to] =
        [from.with_layout(from.layout.permute(&order)?), to.with_layout(to.layout.permute(&order)?)];
    let problem = CopyProblem::new(&from.layout, &to.layout, to.dtype)?;
    draft.call(problem.plan(draft.caps())?, &[to, from], &[])
}
