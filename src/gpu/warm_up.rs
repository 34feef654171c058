//! Compiles kernels ahead of their first use, several at a time.

use super::handle::Gpu;
use super::lock::foreign;
use crate::Result;
use crate::kernel::Kernel;
use crate::plan::Plan;
use crate::progress::Steps;
use std::collections::HashSet;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::{
    atomic::{AtomicUsize, Ordering},
    mpsc::{Sender, channel},
};

impl Gpu {
    /// Compiles the kernels of these plans ahead of their first execution, on as many threads as the machine has cores. The plans of
    /// a model are those that [`plans_of`](Self::plans_of) has seen in an earlier run on such a device, or those of its builders, as
    /// [`Gemm::plan`](crate::Gemm::plan).
    ///
    /// What is compiled already stays as it is. More kernels than
    /// [`GpuOptions::max_pipelines`](crate::GpuOptions::max_pipelines) are not kept.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Fill, Gemm, matmul};
    ///
    /// let a = gpu.random::<f32>([256, 256], Fill::Uniform, 1)?;
    /// gpu.warm_up(&[Gemm::new(&a, &a).plan()?])?;
    /// let compiled = gpu.stats().pipelines;
    /// matmul(&a, &a)?;
    /// assert_eq!(gpu.stats().pipelines, compiled);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// As [`prepare`](Self::prepare); the first plan with an error decides. [`Error::Cancelled`](crate::Error::Cancelled) in
    /// [`with_progress`](crate::with_progress): what is compiled by then stays.
    pub fn warm_up(&self, plans: &[Plan]) -> Result<()> {
        self.inner.status.check()?;
        plans.iter().try_for_each(|plan| plan.check_on(self.known_caps()))?;
        let rows = |plan: &Plan| self.check_rows(plan.op(), plan.steps().iter().map(|step| &step.kernel));
        plans.iter().try_for_each(rows)?;
        let kernels = distinct(plans.iter().flat_map(Plan::steps).map(|step| &step.kernel));
        let steps = Steps::of("warm_up", kernels.len() + plans.len());
        let report = |compiled| foreign(|| steps.at(compiled, "compiling kernels"));
        report(0)?;
        self.compile_all(&kernels, report)?;
        for (at, plan) in plans.iter().enumerate() {
            foreign(|| steps.at(kernels.len() + at, format_args!("preparing {}", plan.op())))?;
            self.prepare(plan)?;
        }
        foreign(|| steps.end())
    }

    /// Compiles each of these kernels once. It returns no error: whoever asks for the pipeline of a kernel next gets it.
    pub(super) fn compile_side_by_side<'a>(&self, kernels: impl Iterator<Item = &'a Kernel>) {
        let _: Result<()> = self.compile_all(&distinct(kernels), |_| Ok(()));
    }

    /// Calls `report` with the number of compiled kernels in between, and ends with its error.
    fn compile_all(&self, kernels: &[&Kernel], report: impl FnMut(usize) -> Result<()>) -> Result<()> {
        if kernels.len() < 2 {
            return Ok(());
        }
        // Nothing but compiling happens on other threads: a proof of a subgroup size would wait for whoever is recording.
        in_turn(kernels, |kernel| drop(self.compiled_kernel(kernel)), report)
    }
}

fn distinct<'a>(kernels: impl Iterator<Item = &'a Kernel>) -> Vec<&'a Kernel> {
    let mut seen = HashSet::new();
    kernels.filter(|kernel| seen.insert(*kernel)).collect()
}

/// Calls `work` for each of these, on as many threads as there are cores. This thread calls `report` with the number that is
/// done each time that one is. If that fails or panics, the threads begin no more.
#[cfg(not(target_arch = "wasm32"))]
fn in_turn<T: Sync>(
    all: &[T],
    work: impl Fn(&T) + Sync,
    mut report: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    let (next, (ended, ends)) = (AtomicUsize::new(0), channel());
    let take = |ended: &Sender<()>| {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(one);
            let _ = ended.send(()); // nobody listens after a cancellation
        }
    };
    let take = &take;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let _rest = TakeAll { next: &next, len: all.len() };
        let start = |ended: Sender<()>| {
            let thread = std::thread::Builder::new().name("tilewise compiler".into());
            thread.spawn_scoped(scope, move || take(&ended)).is_ok()
        };
        let started = (0..cores.min(all.len())).filter(|_| start(ended.clone())).count();
        if started == 0 {
            // The system has no more threads, so this one does the work.
            take(&ended);
        }
        drop(ended);
        (1..).zip(ends).try_for_each(|(done, ())| report(done))
    })
}

/// In a browser, which has one thread here.
#[cfg(target_arch = "wasm32")]
fn in_turn<T>(all: &[T], work: impl Fn(&T), mut report: impl FnMut(usize) -> Result<()>) -> Result<()> {
    all.iter().zip(1..).try_for_each(|(one, done)| {
        work(one);
        report(done)
    })
}

/// Its drop leaves nothing to take.
#[cfg(not(target_arch = "wasm32"))]
struct TakeAll<'a> {
    next: &'a AtomicUsize,
    len: usize,
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for TakeAll<'_> {
    fn drop(&mut self) {
        self.next.store(self.len, Ordering::Relaxed);
    }
}
