//! Windows of an attention: along the batches, and along the heads if each has its own keys.

use super::problem::{AttentionDims, AttentionLayouts, AttentionProblem};
use super::range::AttentionRange;
use crate::Result;
use crate::caps::Caps;
use crate::layout::Layout;
use crate::plan::{CutAxes, InWindows, Plan};
use std::ops::Range;

impl InWindows for AttentionProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let axes = if self.dims.group == 1 { 2 } else { 1 };
        Ok(CutAxes::of(
            &self.q.shape()[..axes],
            self.read_operands().into_iter().chain(self.result_operands()?),
        ))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let mut others = layouts[3..].iter();
        let mut next = |is_there: bool| if is_there { others.next() } else { None };
        let (bias, lengths) = (next(self.bias.is_some()), next(self.lengths.is_some()));
        let (keep, slopes) = (next(self.keep.is_some()), next(self.slopes.is_some()));
        let layouts =
            AttentionLayouts { q: &layouts[0], k: &layouts[1], v: &layouts[2], bias, lengths, keep, slopes };
        let part = Self::new(layouts, AttentionRange::default(), self.statistics, self.dtype)?;
        // Each window has all queries and keys, so distances do not change.
        let dims = AttentionDims { lower: self.dims.lower, upper: self.dims.upper, ..part.dims };
        Ok(Self { dims, corner: self.corner, pin: self.pin, ..part })
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.plan_by(self.choose(caps)?, caps)
    }
}
