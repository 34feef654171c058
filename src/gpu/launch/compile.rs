//! Compiles the kernels of plans, several at a time.

use crate::Result;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::kernels::lifetimes::Lifetimes;
use crate::gpu::kernels::prepared::Prepared;
use crate::kernel::{Kernel, Language};
use crate::plan::{Plan, Step};
use std::collections::HashSet;
use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::{
    atomic::{AtomicUsize, Ordering},
    mpsc::{Sender, channel},
};

impl Gpu {
    /// A plan with its kernels compiled, without tests of the rows of matrices that they use.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this device lacks what a module needs, or as [`pipeline`](Self::pipeline).
    pub(in crate::gpu) fn compiled_untested(&self, plan: Plan) -> Result<Prepared> {
        let kernels = plan.steps().iter().map(|step| &step.kernel);
        self.check_modules(&plan)?;
        self.compile_side_by_side(kernels.filter(|kernel| !self.inner.pipelines.knows(kernel)));
        let pipeline = |step: &Step| Ok(Arc::downgrade(&self.pipeline(plan.op(), &step.kernel)?));
        let pipelines = plan.steps().iter().map(pipeline).collect::<Result<_>>()?;
        let pool = self.inner.pool.lock();
        let lifetimes = Lifetimes::of(&plan, |bytes| pool.class(bytes));
        drop(pool);
        Ok(Prepared { pipelines, lifetimes, plan })
    }

    /// Checks that the declarations of a plan's modules match the bindings of their steps and the features of this
    /// device. wgpu does not check this.
    fn check_modules(&self, plan: &Plan) -> Result<()> {
        let caps = self.known_caps();
        for step in plan.steps().iter().filter(|step| step.kernel.language() == Language::Spirv) {
            let fits = step.kernel.fits(caps, step.dims.len());
            fits.map_err(|needs| caps.unsupported(plan.op(), needs))?;
        }
        Ok(())
    }

    /// Compiles each of these kernels once. It does not return errors of kernels: the next request for the pipeline of a
    /// kernel returns its error.
    pub(in crate::gpu) fn compile_side_by_side<'a>(&self, kernels: impl Iterator<Item = &'a Kernel>) {
        let _: Result<()> = self.compile_all(&distinct(kernels), |_| Ok(()));
    }

    /// Calls `report` with the number of compiled kernels in between, and ends with its error.
    pub(in crate::gpu) fn compile_all(
        &self,
        kernels: &[&Kernel],
        report: impl FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        if kernels.len() < 2 {
            return Ok(());
        }
        // Other threads only compile: a proof of a subgroup size would wait for the thread that is recording.
        in_turn(kernels, |kernel| drop(self.compiled_kernel(kernel)), report)
    }
}

/// Each kernel once.
pub(in crate::gpu) fn distinct<'a>(kernels: impl Iterator<Item = &'a Kernel>) -> Vec<&'a Kernel> {
    let mut seen = HashSet::new();
    kernels.filter(|kernel| seen.insert(*kernel)).collect()
}

/// Calls `work` for each of these, on as many threads as there are cores. After each, this thread calls `report` with the
/// number that is done. If `report` fails or panics, the threads start no further item.
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

/// Its drop removes all remaining items.
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
