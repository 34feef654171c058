//! A case that has been checked and compiled, and is ready to be timed.

use crate::turns::Turns;
use support::chosen_kernel;
use tilewise::gpu::Timing;
use tilewise::reference::Comparison;
use tilewise::{Gpu, Plan, Result};

/// Launches in one submission at most, of those that `Gpu::time` takes.
const MAX_LAUNCHES: u64 = 60;
/// Seconds that one timing should take at least, and the submissions that it consists of at most.
const ENOUGH: f64 = 0.05;
const MAX_SUBMISSIONS: u64 = 40;

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
    pub(crate) turns: Turns,
    /// Launches the operation; the number counts up, to take other operands each time.
    launch: Box<dyn FnMut(usize) -> Result<()>>,
    /// Operations launched so far.
    launched: usize,
    /// Operations in one submission, and submissions in one timing.
    together: u64,
    submissions: u64,
}

/// The result of an operation, and the plan that computed it. A tuned device may run another plan than the predicted one.
pub(crate) fn ran<R>(gpu: &Gpu, predicted: Plan, mut run: impl FnMut() -> Result<R>) -> Result<(R, Plan)> {
    // The first use of a problem may tune it, which runs other plans.
    run()?;
    let (result, plans) = gpu.plans_of(run);
    let plan = match &plans[..] {
        [taken] => taken.clone(),
        _ => predicted,
    };
    Ok((result?, plan))
}

impl Ready {
    /// An operation that has run, so that it is compiled, and whose result was checked.
    pub(crate) fn new(
        gpu: &Gpu,
        plan: Plan,
        checked: Checked,
        turns: Turns,
        launch: impl FnMut(usize) -> Result<()> + 'static,
    ) -> Result<Self> {
        let launch = Box::new(launch);
        let mut ready = Self { plan, checked, turns, launch, launched: 0, together: 1, submissions: 1 };
        let before = gpu.stats().launches;
        let once = ready.time(gpu)?.seconds;
        let launches = (gpu.stats().launches - before).max(1);
        let most = (MAX_LAUNCHES / launches).max(1);
        ready.together = (1..most).find(|&count| count as f64 * once >= ENOUGH).unwrap_or(most);
        let once = ready.time(gpu)?.seconds * ready.together as f64; // warms up
        let is_enough = |count: &u64| *count as f64 * once >= ENOUGH;
        ready.submissions = (1..MAX_SUBMISSIONS).find(is_enough).unwrap_or(MAX_SUBMISSIONS);
        Ok(ready)
    }

    /// Operations in one timing.
    pub(crate) fn operations(&self) -> u64 {
        self.together * self.submissions
    }

    /// Seconds of one operation, as a part of those that are timed together.
    pub(crate) fn time(&mut self, gpu: &Gpu) -> Result<Timing> {
        let mut all = self.submit(gpu)?;
        for _ in 1..self.submissions {
            all.seconds += self.submit(gpu)?.seconds;
        }
        Ok(Timing { seconds: all.seconds / self.operations() as f64, ..all })
    }

    /// Seconds of one submission.
    fn submit(&mut self, gpu: &Gpu) -> Result<Timing> {
        let ((), timing) = gpu.time(|| {
            (0..self.together).try_for_each(|_| {
                self.launched += 1;
                (self.launch)(self.launched)
            })
        })?;
        Ok(timing)
    }

    /// The kernel of the step that is predicted to take longest, and its tile.
    pub(crate) fn kernel(&self) -> [String; 2] {
        let longest = self.plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        [chosen_kernel(&self.plan), longest.map_or(String::new(), |step| step.tile.to_string())]
    }
}
