//! [`Gpu::plans_of`]: the plans that a call executes.

use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::plan_capture::PlanCapture;
use crate::plan::Plan;

impl Gpu {
    /// Runs `work` and returns its result, with the plans that were executed in the meantime, in order.
    ///
    /// This shows all launches of an operation with several stages, even if a later stage depends on values that an
    /// earlier one read back, as in a factorisation. A [`Replay::run`](crate::Replay::run) shows the plans that it was
    /// captured from. Plans that other threads execute on this device at the same time are included, and those that a
    /// `capture` records.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let a = gpu.random::<f32>([300, 40], tilewise::Fill::Uniform, 1)?;
    /// let (svd, plans) = gpu.plans_of(|| tilewise::sketch::Rsvd::new(&a).rank(8).run());
    /// plans.iter().for_each(|plan| println!("{plan}"));
    /// # assert!(svd.is_ok() && plans.len() > 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn plans_of<R>(&self, work: impl FnOnce() -> R) -> (R, Vec<Plan>) {
        let capture = PlanCapture::begin(&self.inner.captures);
        let result = work();
        let plans = std::mem::take(&mut *capture.plans.lock());
        (result, plans)
    }
}
