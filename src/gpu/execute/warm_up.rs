//! Compiles kernels ahead of their first use, several at a time.

use crate::Result;
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::launch::compile::distinct;
use crate::plan::Plan;
use crate::progress::Steps;

impl Gpu {
    /// Compiles the kernels of these plans ahead of their first execution, on as many threads as the machine has cores. The plans of
    /// a model are those that [`plans_of`](Self::plans_of) has seen in an earlier run on such a device, or those of its builders, as
    /// [`Gemm::plan`](crate::Gemm::plan).
    ///
    /// Kernels that are compiled already are not compiled again. At most
    /// [`GpuOptions::max_pipelines`](crate::GpuOptions::max_pipelines) kernels are kept.
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
    /// As [`prepare`](Self::prepare), for the first plan with an error. [`Error::Cancelled`](crate::Error::Cancelled) in
    /// [`with_progress`](crate::with_progress); the kernels that are compiled by then are kept.
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
}
