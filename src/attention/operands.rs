//! The operands of an attention, in the order of its plan. Windows are along the batches and the heads.

use super::problem::{AttentionProblem, AttentionStatistics, OP};
use crate::Result;
use crate::layout::{DType, Layout};
use crate::plan::Operand;

impl AttentionProblem {
    /// The operands that kernels read.
    pub(super) fn read_operands(&self) -> Vec<Operand> {
        let read = |name, layout| Operand::read(name, self.dtype, layout);
        let of_queries = [("the queries", self.q), ("the keys", self.k), ("the values", self.v)];
        of_queries.map(|(name, layout)| read(name, layout)).into_iter().chain(self.mask_operands()).collect()
    }

    /// The bias, the key lengths, the mask of keys and the slopes.
    pub(super) fn mask_operands(&self) -> impl Iterator<Item = Operand> {
        let read = |name, dtype, layout: Option<Layout>| layout.map(|of| Operand::read(name, dtype, of));
        let of_batches = [Some(0), None];
        let masks = [
            read("the bias", self.dtype, self.bias),
            read("the key lengths", DType::I32, self.lengths).map(|of| of.along(of_batches)),
            read("the mask of keys", DType::I8, self.keep).map(|of| of.along(of_batches)),
            read("the slopes", DType::F32, self.slopes).map(|of| of.along([None, Some(0)])),
        ];
        masks.into_iter().flatten()
    }

    /// The results.
    pub(super) fn result_operands(&self) -> Result<Vec<Operand>> {
        let mut results = vec![Operand::written("the result", self.dtype, self.y)];
        if self.statistics == AttentionStatistics::LogSums {
            let [batch, heads, queries] = [0, 1, 2].map(|axis| self.q.shape()[axis]);
            let rows = Layout::contiguous(OP, &[batch, heads, queries, 2])?;
            results.push(Operand::written("the largest scores and logarithms of the sums", DType::F32, rows));
        }
        Ok(results)
    }
}
