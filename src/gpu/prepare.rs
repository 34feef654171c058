//! Prepares plans: chooses the plan of a problem, and compiles kernels.

use super::handle::Gpu;
use super::lifetimes::Lifetimes;
use super::options::Tuning;
use super::prepared::Prepared;
use super::tuning_memory::key;
use crate::Result;
use crate::plan::{Plan, Problem};
use std::sync::Arc;

/// Whether the plan of a problem is kept for later calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    /// The problem is to be tuned, and could not be now.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "a browser tunes nothing"))]
    No,
}

impl Gpu {
    /// The plan and pipelines of `problem`, prepared once and then looked up.
    pub(super) fn prepared<P: Problem>(&self, problem: &P) -> Result<Arc<Prepared>> {
        self.inner.status.check()?;
        if let Some(prepared) = self.inner.plans.get(problem) {
            return Ok(prepared);
        }
        let (tuned, kept) = self.tuned_plan(problem);
        // The lock is held neither for planning nor for compiling, so two threads may prepare the same plan at the same
        // time.
        let tuned = tuned.and_then(|plan| self.compiled(plan).ok());
        let prepared = match tuned {
            Some(prepared) => Arc::new(prepared),
            None => self.planned(problem)?,
        };
        if kept == Kept::Yes {
            drop(self.inner.plans.insert(problem, prepared.clone()));
        }
        Ok(prepared)
    }

    /// The plan that is predicted to be the fastest, compiled.
    fn planned<P: Problem>(&self, problem: &P) -> Result<Arc<Prepared>> {
        loop {
            let caps = self.caps();
            match self.compiled(problem.plan(caps)?) {
                // A row of matrices was fenced off since: plan again without it.
                Err(_) if !std::ptr::eq(caps, self.caps()) => {}
                prepared => return Ok(Arc::new(prepared?)),
            }
        }
    }

    /// The plan of the problem that was measured to be the fastest, if this `Gpu` uses such plans, and whether to keep what
    /// is planned.
    fn tuned_plan<P: Problem>(&self, problem: &P) -> (Option<Plan>, Kept) {
        let memory = match self.inner.options.tuning {
            Tuning::Off => return (None, Kept::Yes),
            Tuning::Remembered | Tuning::Now => &self.inner.tuning,
        };
        let known = memory.plan_of(problem, self.caps());
        #[cfg(not(target_arch = "wasm32"))]
        if known.is_none() && self.inner.options.tuning == Tuning::Now {
            return self.tune_now(problem);
        }
        (known, Kept::Yes)
    }

    /// The plan of a problem on this device, with the reasons for it. If it was tuned, the reasons are what was measured.
    pub(crate) fn explained<P: Problem>(&self, problem: &P) -> Result<Plan> {
        let explained = problem.explain(self.caps())?;
        if self.inner.options.tuning == Tuning::Off {
            return Ok(explained);
        }
        let memory = &self.inner.tuning;
        let Some(plan) = memory.plan_of(problem, self.caps()) else { return Ok(explained) };
        let tuned = memory.last(&key(problem)).map_or(Vec::new(), |tuned| tuned.tried);
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
    pub(super) fn prepared_plan(&self, plan: &Plan) -> Result<Arc<Prepared>> {
        if let Some(known) = self.inner.plans.get_plan(plan) {
            return Ok(known);
        }
        plan.check_on(self.caps())?;
        let prepared = Arc::new(self.compiled(plan.clone())?);
        drop(self.inner.plans.insert_plan(plan, prepared.clone()));
        Ok(prepared)
    }

    pub(super) fn compiled(&self, plan: Plan) -> Result<Prepared> {
        let pipeline = |step: &crate::plan::Step| self.pipeline(plan.op(), &step.kernel);
        let pipelines = plan.steps().iter().map(pipeline).collect::<Result<_>>()?;
        let pool = self.inner.pool.lock();
        let lifetimes = Lifetimes::of(&plan, |bytes| pool.class(bytes));
        drop(pool);
        Ok(Prepared { pipelines, lifetimes, plan })
    }
}
