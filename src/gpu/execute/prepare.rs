//! Prepares plans: chooses the plan of a problem, and compiles kernels.

use crate::Result;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::kernels::lifetimes::Outputs;
use crate::gpu::kernels::plan_cache::KeepPlan;
use crate::gpu::kernels::prepared::Prepared;
use crate::gpu::options::gpu_options::Tuning;
use crate::gpu::tuned::tried::Tried;
use crate::gpu::tuned::tuning_memory::key;
use crate::plan::{AnyProblem, Plan, TimeSource};
use std::sync::Arc;

impl Gpu {
    /// The plan and pipelines of `problem`, prepared once and then looked up. A tuned plan can need more memory for its temporaries
    /// than the predicted one: if there is no room for them now, it is the predicted one.
    pub(in crate::gpu) fn prepared(&self, problem: &AnyProblem, outputs: Outputs) -> Result<Arc<Prepared>> {
        let prepared = self.known_or_prepared(problem)?;
        let is_tuned = prepared.plan.time_source() == TimeSource::Measured;
        if is_tuned && self.check_memory(prepared.plan.op(), prepared.lifetimes.memory(outputs)).is_err() {
            return self.planned(problem);
        }
        Ok(prepared)
    }

    /// Chooses and compiles the plan of a problem: computing it then fails for a lack of memory at most. A call that computes several
    /// problems prepares all of them, and records nothing if one has no plan.
    pub(crate) fn prepare_problem(&self, problem: &AnyProblem) -> Result<()> {
        self.prepared(problem, Outputs::New).map(|_| ())
    }

    fn known_or_prepared(&self, problem: &AnyProblem) -> Result<Arc<Prepared>> {
        self.inner.status.check()?;
        if let Some(prepared) = self.inner.plans.get(problem).filter(|known| known.is_compiled()) {
            return Ok(prepared);
        }
        let (tuned, kept) = self.tuned_plan(problem)?;
        // The lock is held neither for planning nor for compiling, so two threads may prepare the same plan at the same
        // time.
        let tuned = tuned.and_then(|plan| self.compiled(plan).ok());
        let prepared = match tuned {
            Some(prepared) => Arc::new(prepared),
            None => self.planned(problem)?,
        };
        if kept == KeepPlan::No {
            return Ok(prepared);
        }
        Ok(self.inner.plans.insert(problem, prepared))
    }

    /// The plan that is predicted to be the fastest, compiled.
    fn planned(&self, problem: &AnyProblem) -> Result<Arc<Prepared>> {
        loop {
            let caps = self.known_caps();
            match self.compiled(problem.plan(caps)?) {
                // A row of matrices was fenced off since: plan again without it.
                Err(_) if !std::ptr::eq(caps, self.known_caps()) => {}
                prepared => return Ok(Arc::new(prepared?)),
            }
        }
    }

    /// The plan of the problem that was measured as the fastest, if this `Gpu` uses such plans, and whether to cache the
    /// plan.
    fn tuned_plan(&self, problem: &AnyProblem) -> Result<(Option<Plan>, KeepPlan)> {
        if self.inner.options.tuning == Tuning::Off {
            return Ok((None, KeepPlan::Yes));
        }
        let known = self.inner.tuning.plan_of(problem, self.known_caps());
        #[cfg(not(target_arch = "wasm32"))]
        if known.is_none() && self.inner.options.tuning == Tuning::Now {
            return self.tune_now(problem);
        }
        Ok((known, KeepPlan::Yes))
    }

    /// The plan with which the next call computes a problem on this device, with the reasons for it. If it was tuned, the reasons
    /// are the measured candidates, the fastest first, and the call takes the fastest if there is room for its temporaries.
    pub(crate) fn explained(&self, problem: &AnyProblem) -> Result<Plan> {
        let explained = self.plan_with(|caps| problem.explain(caps))?;
        if self.inner.options.tuning == Tuning::Off {
            return Ok(explained);
        }
        let memory = &self.inner.tuning;
        let plan = match self.inner.plans.get(problem) {
            Some(known) => known.plan.clone(),
            None => match memory.plan_of(problem, self.known_caps()) {
                Some(plan) => plan,
                None => return Ok(explained),
            },
        };
        if plan.time_source() == TimeSource::Predicted {
            return Ok(explained);
        }
        let mut tuned = memory.last(&key(problem)).map_or(Vec::new(), |tuned| tuned.tried);
        // Those that were not measured come last, in the order of their predictions.
        let seconds = |tried: &Tried| tried.measured.unwrap_or(f64::INFINITY);
        tuned.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)).then(a.predicted.total_cmp(&b.predicted)));
        let measured = tuned.iter().map(|tried| format!("tried: {tried}"));
        Ok(plan.because(explained.reasons_without_predictions().cloned().chain(measured)))
    }

    /// Compiles a plan's kernels ahead of its first execution.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the driver refuses a kernel;
    /// [`Error::Unsupported`](crate::Error::Unsupported) if this device lacks what a step needs,
    /// or its driver gives a kernel subgroups of another size than the kernel is written for.
    pub fn prepare(&self, plan: &Plan) -> Result<()> {
        self.inner.status.check()?;
        self.prepared_plan(plan).map(|_| ())
    }

    /// The prepared form of an application's plan.
    pub(in crate::gpu) fn prepared_plan(&self, plan: &Plan) -> Result<Arc<Prepared>> {
        if let Some(known) = self.inner.plans.get_plan(plan).filter(|known| known.is_compiled()) {
            return Ok(known);
        }
        plan.check_on(self.known_caps())?;
        let prepared = Arc::new(self.compiled(plan.clone())?);
        self.inner.plans.insert_plan(plan, prepared.clone());
        Ok(prepared)
    }
}
