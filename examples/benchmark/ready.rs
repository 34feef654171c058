//! A case that has been checked and compiled, and is ready to be timed.

use bench::turns::Turns;
use bench::{clock, repetitions};
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
    /// Operations in one submission, and in one timing.
    together: u64,
    operations: u64,
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
        let mut ready = Self { plan, checked, turns, launch, launched: 0, together: 1, operations: 1 };
        let before = gpu.stats().launches;
        let once = ready.time(gpu)?.seconds;
        let launches = (gpu.stats().launches - before).max(1);
        ready.together = repetitions::estimated(once, ENOUGH, (MAX_LAUNCHES / launches).max(1));
        ready.operations = ready.together;
        let once = ready.time(gpu)?.seconds * ready.together as f64; // warms up
        ready.operations = ready.together * repetitions::estimated(once, ENOUGH, MAX_SUBMISSIONS);
        Ok(ready)
    }

    /// Operations in one timing.
    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }

    /// Seconds of one operation, as a part of those that are timed together.
    pub(crate) fn time(&mut self, gpu: &Gpu) -> Result<Timing> {
        let Self { launch, launched, operations, .. } = self;
        let all = clock::time(gpu, *operations, self.together, || {
            *launched += 1;
            launch(*launched)
        })?;
        Ok(Timing { seconds: all.seconds / *operations as f64, ..all })
    }

    /// The kernel of the step that is predicted to take longest, and its tile.
    pub(crate) fn kernel(&self) -> [String; 2] {
        let longest = self.plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        [chosen_kernel(&self.plan), longest.map_or(String::new(), |step| step.tile.to_string())]
    }
}
