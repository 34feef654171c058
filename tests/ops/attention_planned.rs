//! Attention by the plan for other capabilities than the device's own.

use super::attention::{Extra, Operands};
use tilewise::attention::CausalFrom;
use tilewise::planning::attention::{
    AttentionCorner, AttentionLayouts, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::planning::{Problem, Scalar};
use tilewise::{Caps, Real, Tensor, View};

impl<T: Real> Operands<T> {
    /// The result and what is known of the scores, by the plan for these capabilities.
    pub(crate) fn run_planned(&self, caps: &Caps) -> (Tensor<T>, Tensor<f32>) {
        let plan = self.problem(AttentionStatistics::LogSums).plan(caps).unwrap();
        let gpu = self.q.gpu();
        let [.., of_y, of_lse] = plan.parameters() else { panic!("two results") };
        let mut y = {
            let elements = gpu.zeros::<T>([of_y.layout.len()]).unwrap();
            elements.as_strided(of_y.layout.shape(), of_y.layout.strides(), 0).unwrap()
        };
        let mut lse = gpu.zeros(of_lse.layout.shape()).unwrap();
        let results = [y.view_mut().unwrap(), lse.view_mut().unwrap()];
        let operands: Vec<View<'_>> = self.views().into_iter().chain(self.masks()).chain(results).collect();
        gpu.execute(&plan, &operands, &[self.scale()]).unwrap();
        (y, lse)
    }

    /// What is planned for other capabilities.
    pub(crate) fn problem(&self, statistics: AttentionStatistics) -> AttentionProblem {
        let causal = match self.extra {
            Extra::Causal(from) => Some(from),
            Extra::Padded | Extra::All => Some(CausalFrom::BottomRight),
            _ => None,
        };
        let [left, right] = match self.extra {
            Extra::Window(left, right) => [left, right].map(Some),
            _ => [None; 2],
        };
        let [bias, lengths, keep, slopes] = self.given();
        let layouts = AttentionLayouts {
            q: self.q.layout(),
            k: self.k.layout(),
            v: self.v.layout(),
            bias: bias.then(|| self.bias.layout()),
            lengths: lengths.then(|| self.lengths.layout()),
            keep: keep.then(|| self.keep.layout()),
            slopes: slopes.then(|| self.slopes.layout()),
        };
        let range = AttentionRange { causal, left, right, corner: AttentionCorner::Keys };
        AttentionProblem::new(layouts, range, statistics, T::DTYPE).unwrap().pinned(Some(self.kernel))
    }

    /// Whether there are a bias, lengths, a mask of keys and slopes.
    fn given(&self) -> [bool; 4] {
        match self.extra {
            Extra::Bias(_) | Extra::Masks(_) => [true, false, false, false],
            Extra::Lengths => [false, true, false, false],
            Extra::Keep => [false, false, true, false],
            Extra::Slopes => [false, false, false, true],
            Extra::Padded => [true, true, false, false],
            Extra::All => [true, true, true, false],
            Extra::None | Extra::Causal(_) | Extra::Window(..) => [false; 4],
        }
    }

    pub(crate) fn views(&self) -> [View<'_>; 3] {
        [self.q.view(), self.k.view(), self.v.view()]
    }

    /// The bias and masks that there are, in the order of a plan.
    pub(crate) fn masks(&self) -> Vec<View<'_>> {
        let masks = [self.bias.view(), self.lengths.view(), self.keep.view(), self.slopes.view()];
        masks.into_iter().zip(self.given()).filter_map(|(mask, is_given)| is_given.then_some(mask)).collect()
    }

    /// The scale that the options have.
    pub(crate) fn scale(&self) -> Scalar {
        Scalar::F32(1.0 / (self.q.shape()[3] as f32).sqrt())
    }
}
