//! Which plans are executed while some work goes on.

use super::Gpu;
use super::lock::Lock;
use crate::plan::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Who is told of executed plans.
#[derive(Default)]
pub(super) struct Watchers {
    all: Lock<Vec<Arc<Told>>>,
    /// How many there are, so that nobody locks while there is none.
    count: AtomicUsize,
}

/// The plans that one of them was told of.
type Told = Lock<Vec<Plan>>;

impl Watchers {
    pub(super) fn tell(&self, plan: &Plan) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let all = self.all.lock().clone();
            all.iter().for_each(|told| told.lock().push(plan.clone()));
        }
    }
}

/// Somebody who is told until this is dropped.
struct Watching<'a> {
    watchers: &'a Watchers,
    told: Arc<Told>,
}

impl<'a> Watching<'a> {
    fn begin(watchers: &'a Watchers) -> Self {
        let told = Arc::new(Told::default());
        watchers.all.lock().push(told.clone());
        watchers.count.fetch_add(1, Ordering::Relaxed);
        Self { watchers, told }
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.watchers.count.fetch_sub(1, Ordering::Relaxed);
        self.watchers.all.lock().retain(|told| !Arc::ptr_eq(told, &self.told));
    }
}

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
