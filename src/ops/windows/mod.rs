//! Steps that join the windows of operations: copies and sums.

use crate::Result;
use crate::layout::{DType, Layout};
use crate::ops::copy::copy_part;
use crate::ops::{ReduceFunction, ReduceProblem};
use crate::plan::{CutAxes, CutOperand, Draft, Form, Joins, Problem, Region};

/// Copies of windows, and sums of f32.
pub(crate) const JOINS: Joins = Joins { copy: Some(copy_part), sum: Some(sum_parts) };

fn sum_parts(draft: &mut Draft<'_>, parts: Region, to: Region) -> Result<()> {
    let sum = ReduceProblem::new(ReduceFunction::Sum, &parts.layout, &[0], DType::F32)?.in_one_step();
    draft.call(sum.plan(draft.caps())?, &[parts, to], &[])
}

/// The axes by which an operation along the axis `along` may be cut: all others.
pub(crate) fn axes_but(
    along: usize,
    shape: &[usize],
    views: impl IntoIterator<Item = (Form, Layout, DType)>,
) -> CutAxes {
    let axes: Vec<usize> = (0..shape.len()).filter(|&axis| axis != along).collect();
    let own: Vec<Option<usize>> = axes.iter().copied().map(Some).collect();
    let operands =
        views.into_iter().map(|(form, layout, dtype)| CutOperand::new(form, layout, dtype, own.clone()));
    CutAxes {
        extents: axes.iter().map(|&axis| shape[axis]).collect(),
        joined: 0,
        operands: operands.collect(),
        whole: Some(along),
    }
}
