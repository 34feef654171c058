//! The plan itself.

use super::constant::Constant;
use super::operands::Parameter;
use super::scalars::ScalarParameter;
use super::step::Step;
use super::work::Work;
use std::sync::Arc;

/// Everything that an operation launches, in order. A plan is made without a device and runs on any device with the features
/// and limits that its steps need. `Display` prints the steps and explains the choice.
///
/// The operands' buffers, and scalars such as the alpha of a product, are not part of a plan: each call passes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan(pub(super) Arc<Content>);

/// The contents of a plan, which its clones share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Content {
    pub(super) op: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) scalars: Vec<ScalarParameter>,
    pub(super) steps: Vec<Step>,
    pub(super) temporaries: Vec<u64>,
    pub(super) constants: Vec<Constant>,
    pub(super) reasons: Vec<String>,
    pub(super) time_source: TimeSource,
}

/// The words of a reason for a candidate that is predicted to be slower.
pub(crate) const SLOWER: &str = "slower here";

/// The source of a plan's seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeSource {
    /// A model of the device.
    #[default]
    Predicted,
    /// A measurement of the whole plan on the device. Each step has the share of it that the model predicts.
    Measured,
}

impl Plan {
    /// The operation's name, which errors use.
    #[must_use]
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// The operands that the plan takes, in order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.0.parameters
    }

    /// The numbers that a call passes, in order. Only numbers that some kernel of the plan reads are listed.
    #[must_use]
    pub fn scalars(&self) -> &[ScalarParameter] {
        &self.0.scalars
    }

    /// The launches, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0.steps
    }

    /// Sizes in bytes of the temporary buffers, which carry results from one step to another.
    #[must_use]
    pub fn temporaries(&self) -> &[u64] {
        &self.0.temporaries
    }

    /// The constant buffers that kernels read.
    #[must_use]
    pub fn constants(&self) -> &[Constant] {
        &self.0.constants
    }

    /// Why this plan was chosen over others. Empty unless the plan comes from
    /// [`Problem::explain`](crate::planning::Problem::explain).
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.0.reasons
    }

    /// Seconds on the plan's device: predicted, or measured if [`Gpu::tune`](crate::Gpu::tune) has measured this plan.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.0.steps.iter().fold(0.0, |seconds, step| seconds + step.seconds)
    }

    /// Whether the seconds are predicted or measured.
    #[must_use]
    pub fn time_source(&self) -> TimeSource {
        self.0.time_source
    }

    /// The operations computed and the bytes moved by all steps together.
    #[must_use]
    pub fn work(&self) -> Work {
        Work::sum(self.0.steps.iter().map(|step| (&step.work, step.seconds)))
    }

    /// An identifier that this plan shares with its clones, but with no other existing plan.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// The plan with seconds that were measured.
    pub(crate) fn measured(mut self, seconds: f64) -> Self {
        let predicted = self.seconds();
        let content = Arc::make_mut(&mut self.0);
        let each = seconds / content.steps.len().max(1) as f64;
        for step in &mut content.steps {
            step.seconds = if predicted > 0.0 { step.seconds * (seconds / predicted) } else { each };
        }
        content.time_source = TimeSource::Measured;
        self
    }

    /// The reasons except the predictions of slower candidates.
    pub(crate) fn reasons_without_predictions(&self) -> impl Iterator<Item = &String> {
        self.0.reasons.iter().filter(|reason| !reason.contains(SLOWER))
    }

    /// The plan with these reasons appended.
    pub(crate) fn because(mut self, reasons: impl IntoIterator<Item = String>) -> Self {
        Arc::make_mut(&mut self.0).reasons.extend(reasons);
        self
    }
}
