//! Windows of rows of a norm by its operand's own statistics: first the moments or sums of each window, then the statistics of
//! all windows, then the results of each.

use super::problem::{ChannelDims, ChannelProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel;
use crate::layout::{ALIGNED_BYTES, DType, Layout};
use crate::ops::norm::layouts::NormLayouts;
use crate::ops::windows::JOINS;
use crate::plan::{Draft, Region};
use std::ops::Range;

/// The windows of rows of a plan.
pub(super) struct RowWindows {
    /// The rows of each window: a multiple of those of a chunk.
    pub(super) ranges: Vec<Range<usize>>,
    /// Rows of a chunk. 0: the number that occupies the device.
    each: u32,
    /// Whether windows of A or B are copied, because their elements are too far apart for a binding.
    copied: [bool; 2],
}

impl ChannelProblem {
    /// The windows of rows. There is one window if all operands can be bound or statistics are given. If there are several outer
    /// indices, each is a window of its own.
    pub(super) fn row_windows(&self, caps: &Caps) -> Result<RowWindows> {
        let (d, size) = (&self.dims, self.dtype.size());
        let (rows, row) = (d.inner as usize, d.channels as usize * size);
        let operands = if self.pass.is_backward() { vec![d.a, d.b] } else { vec![d.a] };
        let operands: Vec<Layout> = operands.into_iter().map(|of| self.layout(of)).collect::<Result<_>>()?;
        let binding = usize::try_from(caps.limits.binding_bytes).unwrap_or(usize::MAX);
        let dense = usize::try_from(kernel::max_buffer_bytes(caps)).unwrap_or(usize::MAX) / row;
        let fits = |of: &Layout| of.bytes(self.dtype).end <= caps.limits.binding_bytes;
        let has_one_outer = d.outer == 1 && !self.pass.is_evaluation();
        if !has_one_outer || dense == 0 || (operands.iter().all(fits) && rows <= dense) {
            return Ok(RowWindows { ranges: vec![0..rows; 1], each: 0, copied: [false; 2] });
        }
        let (mut copied, mut most) = ([false; 2], dense);
        for (of, copied) in operands.iter().zip(&mut copied) {
            let first = of.slice(1, ..1)?.span().len() * size + ALIGNED_BYTES;
            let step = of.strides()[1] * size;
            *copied = first > binding;
            if !*copied {
                most = most.min((binding - first).checked_div(step).map_or(rows, |more| more + 1));
            }
        }
        // Windows begin where a binding may begin, if they can.
        let turn = self.rows_in_turn(caps) as usize;
        let aligned = (0..).map(|log| 1 << log).find(|rows| (rows * row).is_multiple_of(ALIGNED_BYTES));
        let unit = turn.max(aligned.unwrap_or(1));
        let length = match [unit, turn].into_iter().find(|&unit| unit <= most) {
            Some(unit) => most / unit * unit,
            None => most,
        };
        let turns = (length / turn).max(1);
        let usual = (self.dims_on(caps).each as usize / turn).max(1);
        let of_chunk = (1..=usual.min(turns)).rev().find(|of_chunk| turns.is_multiple_of(*of_chunk));
        let each = length.min(of_chunk.unwrap_or(1) * turn);
        // Three numbers for each channel of a chunk must fit, too; the longest chunks are whole windows.
        let three = 3 * d.channels as usize * DType::F32.size();
        let is_too_fine = (rows.div_ceil(each) * three) as u64 > kernel::max_buffer_bytes(caps);
        let (length, each) = if is_too_fine { (most, most) } else { (length, each) };
        let ranges = (0..rows).step_by(length).map(|start| start..rows.min(start + length));
        Ok(RowWindows { ranges: ranges.collect(), each: u32::try_from(each).unwrap_or(u32::MAX), copied })
    }

    /// The problem with the chunks of these windows.
    pub(super) fn in_chunks_of(&self, windows: &RowWindows) -> Self {
        Self { dims: ChannelDims { each: windows.each, ..self.dims }, ..*self }
    }

    /// The problem of a window of rows, and its windows of A and B.
    pub(super) fn of_rows(
        &self,
        draft: &mut Draft<'_>,
        windows: &RowWindows,
        range: &Range<usize>,
        operands: [Option<Region>; 2],
    ) -> Result<(Self, [Option<Region>; 2])> {
        if windows.ranges.len() == 1 {
            return Ok((*self, operands));
        }
        let mut own = operands;
        for (region, copied) in own.iter_mut().zip(windows.copied) {
            let Some(region) = region else { continue };
            *region = region.with_layout(region.layout.slice(1, range.clone())?);
            if copied {
                let copy = draft.temporary(region.layout.shape(), region.dtype)?;
                JOINS.copy(draft, *region, copy)?;
                *region = copy;
            }
        }
        let d = &self.dims;
        let (gamma, beta) = (self.weights(d.gamma_offset)?, self.weights(d.beta_offset)?);
        let [a, b] = own.map(|region| region.map(|region| region.layout));
        let layouts = NormLayouts {
            a: &a.unwrap_or(self.layout(d.a)?),
            b: b.as_ref(),
            gamma: Some(&gamma).filter(|_| self.has_gamma),
            beta: Some(&beta).filter(|_| self.has_beta),
        };
        let groups = (d.channels / d.of_group) as usize;
        let part = Self::new(self.op, self.pass, layouts, groups, self.dtype)?;
        Ok((part.in_chunks_of(windows), own))
    }

    /// The results of a step for the chunks of each window: three rows of channels for each chunk.
    pub(super) fn of_chunks(
        &self,
        draft: &mut Draft<'_>,
        windows: &RowWindows,
        operands: [Option<Region>; 2],
        step: impl Fn(&Self, &mut Draft<'_>, [Option<Region>; 2], Region) -> Result<()>,
    ) -> Result<Region> {
        let three = 3 * self.dims.channels as usize;
        let rows = self.in_chunks_of(windows).partial_rows(draft.caps());
        let all = draft.temporary(&[rows, three], DType::F32)?;
        let mut next = 0;
        for range in &windows.ranges {
            let (part, own) = self.of_rows(draft, windows, range, operands)?;
            let chunks = part.partial_rows(draft.caps());
            let to = all.with_layout(all.layout.slice(0, next..next + chunks)?);
            next += chunks;
            written(draft, to, |draft, to| step(&part, draft, own, to))?;
        }
        Ok(all)
    }

    /// Adds a step that writes the window of a result (outer, inner, channels).
    pub(super) fn result_of_rows(
        &self,
        draft: &mut Draft<'_>,
        windows: &RowWindows,
        (range, y): (&Range<usize>, Region),
        step: impl FnOnce(&mut Draft<'_>, Region) -> Result<()>,
    ) -> Result<()> {
        if windows.ranges.len() == 1 {
            return step(draft, y);
        }
        written(draft, y.with_layout(y.layout.slice(1, range.clone())?), step)
    }
}

/// Adds a step that writes a contiguous region. If no binding may begin at the region, the step writes to a temporary, which is
/// then copied.
fn written(
    draft: &mut Draft<'_>,
    to: Region,
    step: impl FnOnce(&mut Draft<'_>, Region) -> Result<()>,
) -> Result<()> {
    if to.layout.offset_in_window(to.dtype) == 0 {
        return step(draft, to);
    }
    let own = draft.temporary(to.layout.shape(), to.dtype)?;
    step(draft, own)?;
    JOINS.copy(draft, own, to)
}
