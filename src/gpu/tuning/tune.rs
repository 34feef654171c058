//! Tuning: measures the candidates of a problem on the device, and remembers which one was the fastest.

use super::contenders::contenders;
use super::trial_operands::OP;
use super::trials;
use crate::caps::MeasuredRates;
use crate::gpu::buffers::failures::Reason;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::kernels::plan_cache::KeepPlan;
use crate::gpu::options::gpu_options::Tuning;
use crate::gpu::tuned::tried::{Tried, TriedVerdict, Tuned};
use crate::gpu::tuned::tuning_memory::key;
use crate::plan::{AnyProblem, Plan, Problem, Trial};
use crate::{Error, Result};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A problem is not tuned at its first use if its reference is predicted to take more seconds than this.
const LONGEST_REFERENCE: f64 = 2.0;

impl Gpu {
    /// Measures the times of the most promising plans of a problem on the device, and returns the candidates with their times.
    /// Each plan first computes the problem with test operands, which reveal lost terms, and its result is compared with that
    /// of a simple kernel: a plan whose result is outside its error bound cannot win. Takes seconds, and waits for the device.
    ///
    /// Takes memory for the operands of the problem, and for its results twice.
    ///
    /// A `Gpu` that was opened with [`Tuning::Remembered`](crate::gpu::Tuning::Remembered) or
    /// [`Tuning::Now`](crate::gpu::Tuning::Now) uses the fastest plan from now on, and later ones on the same device too, if
    /// files are cached. Results stay within the bounds that each operation states, but another plan may round otherwise.
    /// Other `Gpu`s use the predicted plan, as before.
    ///
    /// Launches of other threads on this device disturb the measurement. The counters of [`stats`](Self::stats) include
    /// the launches of all candidates.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Fill, Gemm};
    ///
    /// let a = gpu.random::<f32>([64, 64], Fill::Uniform, 1)?;
    /// let tuned = gpu.tune(&Gemm::new(&a, &a).problem()?)?;
    /// println!("{tuned}"); // a line for each plan that was tried
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Limit`] or [`Error::Unsupported`] if the device cannot compute the problem; [`Error::OutOfMemory`] if there is no
    /// room for its operands; [`Error::Input`] in the closures of [`capture`](Self::capture),
    /// [`record_into`](Self::record_into) and [`time`](Self::time), while another thread tunes on the device, or if other threads
    /// submit work all the time; [`Error::Cancelled`] in [`with_progress`](crate::with_progress), and then nothing is
    /// remembered; [`Error::Device`] if the device is lost.
    pub fn tune<P: Problem>(&self, problem: &P) -> Result<Tuned> {
        self.tune_any(problem)
    }

    fn tune_any(&self, problem: &AnyProblem) -> Result<Tuned> {
        self.inner.status.check()?;
        self.check_outside_scope(OP, "launches and waits")?;
        if self.inner.recorder.lock().is_timed() {
            return Err(Error::input(OP, "other work is being timed on this device"));
        }
        let Some(_turn) = self.inner.tuning.begin() else {
            return Err(Error::input(OP, "another thread tunes on this device: call it again later"));
        };
        Ok(self.try_candidates(problem)?.0)
    }

    /// All results that this `Gpu` remembers, from old to new: its own, and those of earlier runs if it was opened with
    /// [`Tuning::Remembered`](crate::gpu::Tuning::Remembered) or [`Tuning::Now`](crate::gpu::Tuning::Now).
    #[must_use]
    pub fn tuned(&self) -> Vec<Tuned> {
        self.inner.tuning.all()
    }

    /// The measurements of the last tuning of this problem.
    #[must_use]
    pub fn tuned_for<P: Problem>(&self, problem: &P) -> Option<Tuned> {
        self.inner.tuning.last(&key(problem))
    }

    /// Removes all results of tuning on this device, in the file too. From now on plans are chosen by prediction.
    pub fn forget_tuning(&self) {
        self.inner.tuning.forget();
        drop(self.inner.plans.forget());
    }

    /// Remembers measured rates, if this `Gpu` remembers anything.
    pub(crate) fn remember_rates(&self, rates: MeasuredRates) {
        if self.inner.options.tuning != Tuning::Off {
            self.inner.tuning.add_rates(rates);
        }
    }

    /// Tries the candidates, uses the winner and remembers it. The thread has the turn to tune.
    fn try_candidates(&self, problem: &AnyProblem) -> Result<(Tuned, Option<Plan>)> {
        let caps = self.caps();
        let plans = contenders(problem.candidates(caps)?);
        let trial = if plans.len() > 1 { problem.trial(caps)? } else { None };
        let (description, tried) = match trial {
            Some(trial) => {
                self.submit_all()?;
                self.wait_for_last()?;
                let failure = KeptFailure::aside(self);
                let tried = trials::run(self, &trial, plans.clone())?;
                drop(failure);
                (trial.description, tried)
            }
            None => (untried_description(&plans), plans.iter().map(untried).collect()),
        };
        let date = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let tuned = Tuned { problem: description, date, tried, key: key(problem) };
        let winner = tuned.winner().and_then(|winner| {
            let plan = plans.into_iter().find(|plan| plan.signature() == winner.signature)?;
            Some(plan.measured(winner.measured?))
        });
        if let Some(plan) = &winner
            && self.inner.options.tuning != Tuning::Off
        {
            self.inner.tuning.add(tuned.clone());
            let prepared = Arc::new(self.compiled(plan.clone())?);
            self.inner.plans.replace(problem, prepared);
        }
        Ok((tuned, winner))
    }

    /// The fastest plan of a problem that is used for the first time, and whether later calls may use what is planned.
    ///
    /// # Errors
    /// [`Error::Cancelled`] only. The next call with this problem tunes it.
    pub(in crate::gpu) fn tune_now(&self, problem: &AnyProblem) -> Result<(Option<Plan>, KeepPlan)> {
        let key = key(problem);
        if self.inner.tuning.is_given_up(&key) {
            return Ok((None, KeepPlan::Yes));
        }
        let is_in_scope = self.check_outside_scope(OP, "launches and waits").is_err();
        if is_in_scope || self.inner.recorder.lock().is_timed() {
            return Ok((None, KeepPlan::No));
        }
        let Some(_turn) = self.inner.tuning.begin() else { return Ok((None, KeepPlan::No)) };
        let found = match self.is_worth_trying(problem) {
            Ok(true) => self.try_candidates(problem).map(|(_, plan)| plan),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Ok(Some(plan)) => return Ok((Some(plan), KeepPlan::Yes)),
            Ok(None) => {}
            Err(error @ Error::Cancelled { .. }) => return Err(error),
            Err(error) => log::warn!("a problem is not tuned: {error}"),
        }
        self.inner.tuning.give_up(key);
        Ok((None, KeepPlan::Yes))
    }

    /// Whether a problem has several candidates, and a reference that does not take too long.
    fn is_worth_trying(&self, problem: &AnyProblem) -> Result<bool> {
        let trial = problem.trial(self.caps())?;
        let is_short = |trial: Trial| trial.reference.seconds() <= LONGEST_REFERENCE;
        Ok(trial.is_some_and(is_short))
    }
}

/// The failure of an application's launch that `flush` or `wait` has yet to return. A trial must not return it in their place.
/// The drop of this restores it, and discards failures of the trial.
struct KeptFailure<'a>(&'a Gpu, Option<Reason>);

impl<'a> KeptFailure<'a> {
    fn aside(gpu: &'a Gpu) -> Self {
        Self(gpu, gpu.inner.recorder.lock().failure.take())
    }
}

impl Drop for KeptFailure<'_> {
    fn drop(&mut self) {
        let left = std::mem::replace(&mut self.0.inner.recorder.lock().failure, self.1.take());
        drop(left);
    }
}

fn untried_description(plans: &[Plan]) -> String {
    plans.first().map_or_else(|| OP.to_owned(), |plan| plan.op().to_owned())
}

fn untried(plan: &Plan) -> Tried {
    Tried {
        signature: plan.signature(),
        predicted: plan.seconds(),
        measured: None,
        spread: 0.0,
        verdict: TriedVerdict::Untried,
    }
}
