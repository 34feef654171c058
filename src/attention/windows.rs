//! Windows of an attention: along the batches, and along the heads if each has its own keys.

use super::problem::{AttentionDims, AttentionLayouts, AttentionProblem, AttentionStatistics, OP};
use super::range::AttentionRange;
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::plan::{CutAxes, CutOperand, Form, InWindows, Plan};
use std::ops::Range;

impl InWindows for AttentionProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let [batch, heads, queries] = [0, 1, 2].map(|axis| self.q.shape()[axis]);
        let axes = if self.dims.group == 1 { 2 } else { 1 };
        let both: Vec<Option<usize>> = [Some(0), Some(1)][..axes].to_vec();
        let view = |layout: Option<Layout>, dtype, own: [Option<usize>; 2]| {
            layout.map(|layout| CutOperand::new(Form::View, layout, dtype, own[..axes].to_vec()))
        };
        let mut operands: Vec<CutOperand> = [
            view(Some(self.q), self.dtype, [Some(0), Some(1)]),
            view(Some(self.k), self.dtype, [Some(0), Some(1)]),
            view(Some(self.v), self.dtype, [Some(0), Some(1)]),
            view(self.bias, self.dtype, [Some(0), Some(1)]),
            view(self.lengths, DType::I32, [Some(0), None]),
            view(self.keep, DType::I8, [Some(0), None]),
            view(self.slopes, DType::F32, [None, Some(0)]),
        ]
        .into_iter()
        .flatten()
        .collect();
        operands.push(CutOperand::new(Form::Dense, self.y, self.dtype, both.clone()));
        if self.statistics == AttentionStatistics::LogSums {
            let rows = Layout::contiguous(OP, &[batch, heads, queries, 2])?;
            operands.push(CutOperand::new(Form::Dense, rows, DType::F32, both));
        }
        Ok(CutAxes { extents: [batch, heads][..axes].to_vec(), joined: 0, operands, whole: None })
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
