//! The operands of a cross-entropy, in the order of its plan.

use super::problem::{CrossEntropyProblem, TargetKind};
use crate::layout::{DType, Layout};
use crate::ops::loss::reduction::LossGradient;
use crate::plan::{Form, Operand};

impl CrossEntropyProblem {
    /// The loss, the logarithms, the gradient, the logits, the targets, the weights, and the gradient with respect to the losses.
    pub(super) fn operands(&self) -> [Option<Operand>; 7] {
        let (dtype, rows) = (self.dtype, self.logits.without_axis(self.logits.rank() - 1).dense());
        let loss = if self.is_reduced() {
            Operand::written("the loss", DType::F32, Layout::line(1)).in_form(Form::Sum).whole()
        } else {
            Operand::written("the loss", DType::F32, rows)
        };
        let (kind, targets) = self.targets;
        let form = if kind == TargetKind::Classes { Form::Dense } else { Form::View };
        let upstream = |g: Layout| match g.len() {
            1 => Operand::read("g", DType::F32, g).whole(),
            _ => Operand::read("g", DType::F32, rows.at(rows.strides(), g.offset())).in_form(Form::Dense),
        };
        [
            Some(loss),
            Some(Operand::written("the logarithms", DType::F32, rows)),
            (self.gradient == LossGradient::Computed)
                .then(|| Operand::written("the gradient", dtype, self.logits.dense())),
            Some(Operand::read("the logits", dtype, self.logits)),
            Some(Operand::read("the targets", kind.dtype(dtype), targets).in_form(form)),
            self.weight.map(|weight| Operand::read("the weights", DType::F32, weight).whole()),
            self.upstream.map(upstream),
        ]
    }
}
