//! A copy with its axes in the order of the output's strides.

use super::problem::{CopyProblem, Longer, check_at_position, check_views};
use crate::Result;
use crate::gpu::View;
use crate::layout::{DType, Element, Layout};
use crate::plan::{Draft, Problem, Region};
use crate::tensor::Tensor;
use std::cmp::Reverse;

/// A copy of A to C, with the axes in the order of C's strides, so that neighbouring invocations write to neighbouring
/// places.
pub(in crate::ops) struct OrderedCopy {
    a: Layout,
    c: Layout,
    /// None if there are no elements.
    problem: Option<CopyProblem>,
}

impl OrderedCopy {
    /// A copy of all elements.
    pub(in crate::ops) fn new(a: &Layout, c: &Layout, dtype: DType) -> Result<Self> {
        check_views(a, c)?;
        let order = order(c);
        let (a, c) = (a.permute(&order)?, c.permute(&order)?);
        let problem = if c.is_empty() { None } else { Some(CopyProblem::new(&a, &c, dtype)?) };
        Ok(Self { a, c, problem })
    }

    /// A copy between a whole operand and a slice of the operand that is longer along `axis`. The position of the slice
    /// is the one element `at` of another tensor.
    pub(in crate::ops) fn at_position(
        longer: Longer,
        [a, c]: [&Layout; 2],
        axis: usize,
        at: &Layout,
        dtype: DType,
    ) -> Result<Self> {
        check_at_position(longer, [a, c], axis, at)?;
        let order = order(c);
        // The order contains every axis once.
        let axis = order.iter().position(|&from| from == axis).unwrap_or(axis);
        let (a, c) = (a.permute(&order)?, c.permute(&order)?);
        let is_empty = a.is_empty() || c.is_empty();
        let problem = || CopyProblem::at_position(longer, [&a, &c], axis, at, dtype);
        let problem = if is_empty { None } else { Some(problem()?) };
        Ok(Self { a, c, problem })
    }

    /// Copies between these tensors, whose layouts are those of the problem.
    pub(in crate::ops) fn run<T: Element>(&self, a: &Tensor<T>, c: &Tensor<T>) -> Result<()> {
        c.overwrite_with(|to| self.launch(a, to, None))
    }

    /// The same to a view of the output, with the tensor of the position, if there is one.
    pub(in crate::ops) fn launch<T: Element>(
        &self,
        a: &Tensor<T>,
        to: View<'_>,
        at: Option<&Tensor<i32>>,
    ) -> Result<()> {
        let Some(problem) = &self.problem else { return Ok(()) };
        let mut operands = vec![to.with_layout(self.c), a.view().with_layout(self.a)];
        operands.extend(at.map(Tensor::view));
        a.gpu().run(problem, &operands, &[])
    }
}

/// Adds the copy of a region to another one of the same shape and type.
pub(in crate::ops) fn copy_part(draft: &mut Draft<'_>, from: Region, to: Region) -> Result<()> {
    let order = order(&to.layout);
    let [from, to] =
        [from.with_layout(from.layout.permute(&order)?), to.with_layout(to.layout.permute(&order)?)];
    let problem = CopyProblem::new(&from.layout, &to.layout, to.dtype)?;
    draft.call(problem.plan(draft.caps())?, &[to, from], &[])
}

/// The axes of C, those with the largest strides first.
fn order(c: &Layout) -> Vec<usize> {
    let mut order: Vec<usize> = (0..c.rank()).collect();
    order.sort_by_key(|&axis| Reverse(c.strides()[axis]));
    order
}
