//! A case that has been checked and compiled, and is ready to be timed.

use crate::fits::Patience;
use crate::support::chosen_kernel;
use tilewise::gpu::Timing;
use tilewise::reference::Comparison;
use tilewise::{Error, Gpu, Plan, Result};

/// Launches in one timing at most: all are one submission.
const MAX_LAUNCHES: u64 = 60;
/// Seconds that one timing should take at least.
const ENOUGH: f64 = 0.03;

/// The outcome of a check against the definition.
#[derive(Clone)]
pub(crate) struct Checked {
    /// `full`, or the number of entries.
    pub(crate) name: String,
    pub(crate) found: Comparison,
}

/// A case that is ready to be timed.
pub(crate) struct Ready {
    pub(crate) plan: Plan,
    pub(crate) checked: Checked,
    /// Launches the operation; the number counts up, to take other operands each time.
    launch: Box<dyn FnMut(usize) -> Result<()>>,
    /// Operations launched so far, and in one timing.
    launched: usize,
    pub(crate) together: u64,
}

/// Refuses a plan that takes too long to be repeated.
pub(crate) fn check_time(plan: &Plan, patience: Patience) -> Result<()> {
    patience.check(plan.seconds()).map_err(|why| Error::Input { what: plan.op().into(), why })
}

impl Ready {
    /// An operation that has run once, so that it is compiled, and was checked.
    pub(crate) fn new(
        gpu: &Gpu,
        plan: Plan,
        checked: Checked,
        launch: impl FnMut(usize) -> Result<()> + 'static,
    ) -> Result<Self> {
        let mut ready = Self { plan, checked, launch: Box::new(launch), launched: 0, together: 1 };
        let before = gpu.stats().launches;
        let once = ready.time(gpu)?.seconds;
        let launches = (gpu.stats().launches - before).max(1);
        let most = (MAX_LAUNCHES / launches).max(1);
        ready.together = (1..most).find(|&count| count as f64 * once >= ENOUGH).unwrap_or(most);
        ready.time(gpu)?; // warms up
        Ok(ready)
    }

    /// Seconds of one operation, as a part of those that are timed together.
    pub(crate) fn time(&mut self, gpu: &Gpu) -> Result<Timing> {
        let ((), timing) = gpu.time(|| {
            (0..self.together).try_for_each(|_| {
                self.launched += 1;
                (self.launch)(self.launched)
            })
        })?;
        Ok(Timing { seconds: timing.seconds / self.together as f64, ..timing })
    }

    /// The kernel of the step that is predicted to take longest, and its tile.
    pub(crate) fn kernel(&self) -> [String; 2] {
        let longest = self.plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        [chosen_kernel(&self.plan), longest.map_or(String::new(), |step| step.tile.to_string())]
    }
}
