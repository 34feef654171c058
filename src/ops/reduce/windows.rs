//! Windows along the reduced axes: the states of the windows are joined.

use super::axes::split;
use super::kernel::Stage;
use super::problem::{ReduceDims, ReduceProblem, Steps};
use crate::Result;
use crate::layout::{ALIGNED_BYTES, DType, Layout, dim};
use crate::ops::copy::copy_part;
use crate::plan::{Along, CutAxes, Draft, Operand, Region, Windows};

impl ReduceProblem {
    /// The axes: those that are kept, then those that are reduced.
    fn order(&self) -> impl Iterator<Item = usize> {
        let of = |which: bool| (0..self.a.rank()).filter(move |&axis| self.reduced[axis] == which);
        of(false).chain(of(true))
    }

    /// A and the result.
    pub(super) fn operands(&self) -> Result<[Operand; 2]> {
        let (kept, _) = split(&self.a, &self.reduced);
        let c = Layout::contiguous(self.function.op(), &kept)?;
        Ok([
            Operand::read("the operand", self.dtype, self.a).along(self.order().map(Some)),
            Operand::written("the result", self.function.result_type(self.dtype), c),
        ])
    }

    /// What windows may cut: the axes that are kept, and then those that are reduced.
    pub(super) fn axes_of_windows(&self) -> Result<CutAxes> {
        let extents: Vec<usize> = self.order().map(|axis| self.a.shape()[axis]).collect();
        let joined = self.reduced.iter().take(extents.len()).filter(|is_reduced| **is_reduced).count();
        Ok(CutAxes { joined, ..CutAxes::of(&extents, self.operands()?) })
    }

    /// The same reduction of a part of the operand.
    pub(super) fn of_part(&self, a: &Layout) -> Result<Self> {
        let part = Self::along(self.function, a, &self.reduced, self.dtype)?;
        Ok(Self { steps: self.steps, ..part })
    }

    /// Adds a step for the terms of each window, and one that joins their states. `a` is too large to bind.
    pub(super) fn join_windows(&self, draft: &mut Draft<'_>, [a, c]: [Region; 2]) -> Result<()> {
        let (op, caps) = (self.function.op(), draft.caps());
        let of_window = Self { steps: Steps::OfWindow, ..*self };
        let mut axes = self.axes_of_windows()?;
        let windows = Windows::new(op, &mut axes, caps, Along::Joined)?;
        let kept = axes.extents.len() - axes.joined;
        let mut known: Vec<(Self, Region, ReduceDims)> = Vec::new();
        for ranges in windows.blocks() {
            let layout = axes.operands[0].narrowed(&ranges)?;
            let part = of_window.of_part(&layout)?;
            // An index is along one axis.
            let start = if self.function.is_place() { ranges[kept].start } else { 0 };
            let dims = part.dims_on(caps);
            // Each window has as many parts as the first, which is the largest.
            let parts = known.first().map_or(dims.parts, |(.., first)| first.parts);
            known.push((part, a.with_layout(layout), ReduceDims { parts, start: dim(op, start)?, ..dims }));
        }
        let parts = known.first().map_or(1, |(.., dims)| dims.parts as usize);
        let words = parts * self.function.combination(self.dtype).words as usize;
        let of_one = (self.results * words).next_multiple_of(ALIGNED_BYTES / DType::I32.size());
        let all = draft.temporary(&[known.len(), of_one], DType::I32)?;
        for (at, (part, a, dims)) in known.iter().enumerate() {
            let own = all.layout.slice(0, at..=at)?.slice(1, ..self.results * words)?;
            part.first(draft, Stage::Parts, dims, [*a, all.with_layout(own)])?;
        }
        // The parts of an element of C become neighbours.
        let shape = [self.results, known.len(), words];
        let by_window = Layout::new(op, &shape, &[words, of_one, 1], 0, all.layout.len())?;
        let joined = if by_window.is_contiguous() {
            all.with_layout(by_window)
        } else {
            let joined = draft.temporary(&shape, DType::I32)?;
            copy_part(draft, all.with_layout(by_window), joined)?;
            joined
        };
        draft.reason(format!("{} windows along the axes that are reduced", known.len()));
        let parts = dim(op, known.len() * parts)?;
        of_window.join(draft, ReduceDims { parts, ..self.dims }, [joined, c])
    }
}
