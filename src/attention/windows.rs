//! Windows of an attention: along the batches, and along the heads if each has its own keys.

use super::problem::{AttentionDims, AttentionLayouts, AttentionProblem};
use super::range::AttentionRange;
use crate::Result;
use crate::caps::Caps;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, InWindows, Joins, Plan, Trial, distinct};
use std::ops::Range;

impl InWindows for AttentionProblem {
    const JOINS: Joins = JOINS;

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

    /// One step, and a second one if it has to join parts of the keys. With windows, each window has these steps.
    ///
    /// Operands: Q, K, V, the bias, the key lengths, the mask of keys, the slopes; the result, the largest scores and logarithms of
    /// the sums. Missing operands are left out. Scalars: the scale.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.plan_by(self.choose(caps)?, caps)
    }

    fn alternatives(&self, caps: &Caps) -> Result<Vec<Plan>> {
        let mut plans = distinct(self.choices(caps)?.into_iter().map(|choice| self.plan_by(choice, caps)))?;
        plans[1..].sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        Ok(plans)
    }

    fn reference(&self, caps: &Caps) -> Result<Option<Trial>> {
        self.trial_against_plain(caps).map(Some)
    }
}
