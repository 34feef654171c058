//! Which plans are executed while some work goes on.

use super::handle::Gpu;
use super::watchers::Watching;
use crate::plan::Plan;

impl Gpu {
    /// Runs `work` and returns what it returns, and the plans that were executed meanwhile, in order: what an operation
    /// launches in all of its stages, also where these depend on what is read back in between, as in a factorisation. Plans
    /// that other threads execute here at the same time are among them.
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
        let watching = Watching::begin(&self.inner.watchers);
        let result = work();
        let plans = std::mem::take(&mut *watching.told.lock());
        (result, plans)
    }
}
