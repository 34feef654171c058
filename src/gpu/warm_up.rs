//! Compiles kernels ahead of their first use, several at a time.

use super::handle::Gpu;
use crate::Result;
use crate::kernel::Kernel;
use crate::plan::Plan;
use std::collections::HashSet;

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
    /// As [`prepare`](Self::prepare); the first plan with an error decides.
    pub fn warm_up(&self, plans: &[Plan]) -> Result<()> {
        self.inner.status.check()?;
        plans.iter().try_for_each(|plan| plan.check_on(self.caps()))?;
        self.compile_side_by_side(plans.iter().flat_map(Plan::steps).map(|step| &step.kernel));
        plans.iter().try_for_each(|plan| self.prepare(plan))
    }

    /// Compiles each of these kernels once. It returns no error: whoever asks for the pipeline of a kernel next gets it.
    pub(super) fn compile_side_by_side<'a>(&self, kernels: impl Iterator<Item = &'a Kernel>) {
        let mut seen = HashSet::new();
        let kernels: Vec<&Kernel> = kernels.filter(|kernel| seen.insert(*kernel)).collect();
        if kernels.len() < 2 {
            return;
        }
        // Nothing but compiling happens on other threads: a proof of a subgroup size would wait for whoever is recording.
        #[cfg(not(target_arch = "wasm32"))]
        in_turn(&kernels, |kernel| drop(self.compiled_kernel(kernel)));
        #[cfg(target_arch = "wasm32")]
        kernels.into_iter().for_each(|kernel| drop(self.compiled_kernel(kernel)));
    }
}

/// Calls `work` for each of these, on as many threads as there are cores; this thread is one of them.
#[cfg(not(target_arch = "wasm32"))]
fn in_turn<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let next = AtomicUsize::new(0);
    let take = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(one);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..cores.min(all.len()) {
            // If the system has no more threads, this one does the work.
            drop(std::thread::Builder::new().name("tilewise compiler".into()).spawn_scoped(scope, take));
        }
        take();
    });
}
