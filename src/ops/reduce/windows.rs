//! Windows along the reduced axes: the states of the windows are joined.

use super::kernel::Stage;
use super::problem::{ReduceDims, ReduceProblem, Steps};
use crate::Result;
use crate::layout::{ALIGNED_BYTES, DType, Layout, dim};
use crate::ops::copy::copy_part;
use crate::plan::{Along, Draft, InWindows, Region, Windows};

impl ReduceProblem {
    /// Adds a step for the terms of each window, and one that joins their states. `a` is too large to bind.
    pub(super) fn join_windows(&self, draft: &mut Draft<'_>, [a, c]: [Region; 2]) -> Result<()> {
        let (op, caps) = (self.function.op(), draft.caps());
        let of_window = Self { steps: Steps::OfWindow, ..*self };
        let mut axes = self.cut_axes()?;
        let windows = Windows::new(op, &mut axes, caps, Along::Joined)?;
        let kept = axes.extents.len() - axes.joined;
        let mut known: Vec<(Self, Region, ReduceDims)> = Vec::new();
        for ranges in windows.blocks() {
            let layout = axes.operands[0].narrowed(&ranges)?;
            let part = of_window.part(&[layout], &ranges)?;
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
