//! The operands of a backward pass, in the order of its plan.

use super::problem::{AttentionBackward, AttentionGradientsOf};
use crate::Result;
use crate::attention::problem::OP;
use crate::layout::{DType, Layout};
use crate::plan::{Form, Operand};

impl AttentionBackward {
    /// The operands that kernels read. The masks follow the others.
    pub(super) fn read_operands(&self) -> Vec<Operand> {
        let (forward, dtype) = (&self.forward, self.forward.dtype);
        let lse = Operand::read("the largest scores and logarithms of the sums", DType::F32, self.lse);
        let operands = [
            Operand::read("the queries", dtype, forward.q),
            Operand::read("the keys", dtype, forward.k),
            Operand::read("the values", dtype, forward.v),
            Operand::read("the result", dtype, self.y),
            lse.in_form(Form::Dense),
            Operand::read("the gradient of the result", dtype, self.g),
        ];
        operands.into_iter().chain(forward.mask_operands()).collect()
    }

    /// The gradients.
    pub(super) fn result_operands(&self) -> Result<Vec<Operand>> {
        let (forward, dtype) = (&self.forward, self.forward.dtype);
        if let Some(bias) = self.bias_gradient() {
            let own = [0, 1].map(|axis| axis_of_bias(&bias, axis));
            let form = if self.adds_up(own) { Form::Sum } else { Form::Dense };
            let bias = Operand::written("the gradient of the bias", self.bias_dtype(), bias);
            return Ok(vec![bias.in_form(form).along(own)]);
        }
        let [batch, heads] = [0, 1].map(|axis| forward.k.shape()[axis]);
        let each = Layout::contiguous(OP, &[batch, heads, self.dkv.len() / (batch * heads)])?;
        let of_keys = Operand::written("the gradients of the keys and values", dtype, each);
        Ok(vec![Operand::written("the gradient of the queries", dtype, self.dq), of_keys.in_form(Form::Own)])
    }

    /// The gradient of the bias, if it is computed.
    pub(super) fn bias_gradient(&self) -> Option<Layout> {
        match self.of {
            AttentionGradientsOf::Operands => None,
            AttentionGradientsOf::Bias(bias) | AttentionGradientsOf::PartOfBias(bias) => Some(bias),
        }
    }

    /// Whether the gradients of windows are added up for a bias with these axes. Not for f16 and bf16, because their sums would
    /// be rounded in each window.
    pub(super) fn adds_up(&self, own: [Option<usize>; 2]) -> bool {
        own == [None; 2] && self.bias_dtype() == DType::F32
    }
}

/// The axis of a bias along the batches (0) or heads (1), if it has more than one index there.
pub(super) fn axis_of_bias(bias: &Layout, axis: usize) -> Option<usize> {
    let own = axis.checked_sub(4 - bias.rank())?;
    (bias.shape()[own] > 1).then_some(own)
}
