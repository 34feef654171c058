//! The operands of a norm of channels, in the order of its plan. Windows are along the outer axis, and along the inner one if
//! statistics are given.

use super::problem::{ChannelPass, ChannelProblem};
use crate::Result;
use crate::layout::{DType, Layout};
use crate::plan::{Form, Operand};

impl ChannelProblem {
    /// Extents of the outer and inner axes, and of the channels.
    pub(super) fn shape(&self) -> [usize; 3] {
        [self.dims.outer, self.dims.inner, self.dims.channels].map(|extent| extent as usize)
    }

    fn given(&self, name: &'static str) -> Result<Operand> {
        let channels = Layout::contiguous(self.op, &self.shape()[2..])?;
        Ok(Operand::read(name, DType::F32, channels).whole())
    }

    /// A statistic of each unit.
    fn of_units(&self) -> Result<Layout> {
        let [outer, ..] = self.shape();
        Layout::contiguous(self.op, &[outer, self.units() / outer])
    }

    fn written_like_a(&self, name: &'static str) -> Result<Operand> {
        Ok(Operand::written(name, self.dtype, Layout::contiguous(self.op, &self.shape())?))
    }

    /// The layout of gamma or beta.
    pub(super) fn weights(&self, offset: u32) -> Result<Layout> {
        Layout::new(self.op, &self.shape()[2..], &[1], offset as usize, usize::MAX)
    }

    /// Gamma and beta.
    fn gamma_and_beta(&self) -> Result<[Option<Operand>; 2]> {
        let d = &self.dims;
        let of = |name, is_there: bool, offset: u32| {
            let layout = self.weights(offset)?;
            Ok::<_, crate::Error>(is_there.then(|| Operand::read(name, self.dtype, layout).whole()))
        };
        Ok([of("gamma", self.has_gamma, d.gamma_offset)?, of("beta", self.has_beta, d.beta_offset)?])
    }

    /// Those of a forward pass: A, gamma, beta, given means and variances; the result, the means, the variances, the reciprocal
    /// deviations, and the updated running means and variances.
    pub(super) fn operands(&self) -> Result<[Option<Operand>; 11]> {
        let [gamma, beta] = self.gamma_and_beta()?;
        let with_running = self.pass == ChannelPass::TrainingWithRunning;
        let is_given = with_running || self.pass == ChannelPass::Evaluation;
        let given = |name| if is_given { self.given(name).map(Some) } else { Ok(None) };
        let of_units = self.of_units()?;
        let computed = |name, is_there: bool| {
            is_there.then(|| Operand::written(name, DType::F32, of_units).along([Some(0)]))
        };
        let computes = self.pass != ChannelPass::Evaluation;
        Ok([
            Some(Operand::read("the operand", self.dtype, self.layout(self.dims.a)?)),
            gamma,
            beta,
            given("the running means")?,
            given("the running variances")?,
            Some(self.written_like_a("the result")?),
            computed("the means", computes),
            computed("the variances", computes && self.pass != ChannelPass::Group),
            computed("the reciprocal deviations", computes),
            computed("the new running means", with_running),
            computed("the new running variances", with_running),
        ])
    }

    /// Those of a backward pass: A, the gradient, gamma, the means, the deviations; the gradient of A, those of gamma and beta.
    pub(super) fn operands_backward(&self) -> Result<[Option<Operand>; 7]> {
        let [gamma, _] = self.gamma_and_beta()?;
        let of_units = self.of_units()?;
        let statistic = |name| {
            if self.pass.is_evaluation() {
                return self.given(name);
            }
            Ok(Operand::read(name, DType::F32, of_units).in_form(Form::Dense).along([Some(0)]))
        };
        let gradients = Operand::written(
            "the gradients of gamma and beta",
            DType::F32,
            Layout::contiguous(self.op, &[2 * self.shape()[2]])?,
        );
        Ok([
            Some(Operand::read("the operand", self.dtype, self.layout(self.dims.a)?)),
            Some(Operand::read("the gradient", self.dtype, self.layout(self.dims.b)?)),
            gamma,
            Some(statistic("the means")?),
            Some(statistic("the deviations")?),
            Some(self.written_like_a("the gradient of the operand")?),
            self.pass.has_gradients().then(|| gradients.in_form(Form::Sum).whole()),
        ])
    }
}
