//! Windows of the rows of a cross-entropy.

use super::problem::{CrossEntropyProblem, OP, Rows, TargetKind};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::ops::loss::reduction::LossGradient;
use crate::plan::{CutAxes, CutOperand, Draft, Form, InWindows, Plan, Region};
use std::ops::Range;

impl InWindows for CrossEntropyProblem {
    /// The axes of the rows.
    fn cut_axes(&self) -> Result<CutAxes> {
        let shape = self.logits.shape();
        let axes = shape.len() - 1;
        let of_rows =
            |form, layout, dtype| CutOperand::new(form, layout, dtype, (0..axes).map(Some).collect());
        let whole = |layout, dtype| CutOperand::whole(layout, dtype, axes);
        let rows = Layout::contiguous(OP, &shape[..axes])?;
        let (kind, targets) = self.targets;
        let mut operands = vec![
            if self.is_reduced() {
                CutOperand { form: Form::Sum, ..whole(Layout::contiguous(OP, &[1])?, DType::F32) }
            } else {
                of_rows(Form::Dense, rows, DType::F32)
            },
            of_rows(Form::Dense, rows, DType::F32),
        ];
        if self.gradient == LossGradient::Computed {
            operands.push(of_rows(Form::Dense, Layout::contiguous(OP, shape)?, self.dtype));
        }
        operands.push(of_rows(Form::View, self.logits, self.dtype));
        let form = if kind == TargetKind::Classes { Form::Dense } else { Form::View };
        operands.push(of_rows(form, targets, kind.dtype(self.dtype)));
        operands.extend(self.weight.map(|weight| whole(weight, DType::F32)));
        operands.extend(self.upstream.map(|g| {
            if g.len() == 1 {
                return whole(g, DType::F32);
            }
            of_rows(Form::Dense, rows.at(rows.strides(), g.offset()), DType::F32)
        }));
        Ok(CutAxes { extents: shape[..axes].to_vec(), joined: 0, operands, whole: Some(axes) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let results = if self.gradient == LossGradient::Computed { 3 } else { 2 };
        let operands = &layouts[results..];
        let weight = operands.get(2).filter(|_| self.weight.is_some());
        let part = Self::new(&operands[0], (self.targets.0, &operands[1]), weight, self.dtype)?;
        let of = Rows::OfWindow(self.all_rows());
        let part = Self { of, ..part.reduced(self.reduction).ignoring(self.ignored) };
        if self.gradient == LossGradient::Skipped {
            return Ok(part);
        }
        Ok(part.with_gradient(self.upstream.and(operands.last())))
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }

    /// The sum of the weights of all targets.
    fn before_parts(&self, draft: &mut Draft<'_>, regions: &[Region]) -> Result<Vec<Region>> {
        if !self.counts_targets() {
            return Ok(Vec::new());
        }
        let results = if self.gradient == LossGradient::Computed { 3 } else { 2 };
        let weight = match self.weight {
            Some(_) => regions[results + 2],
            None => {
                let mut one = draft.constant(&[1.0f32.to_bits()])?;
                one.dtype = DType::F32;
                one
            }
        };
        let dims = self.dims(draft.caps())?;
        self.count(draft, [regions[results + 1], weight], &dims).map(|counted| vec![counted])
    }
}
