//! Which plans are executed while some work goes on.

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
pub(super) type Told = Lock<Vec<Plan>>;

impl Watchers {
    pub(super) fn tell(&self, plan: &Plan) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let all = self.all.lock().clone();
            all.iter().for_each(|told| told.lock().push(plan.clone()));
        }
    }
}

/// Somebody who is told until this is dropped.
pub(super) struct Watching<'a> {
    watchers: &'a Watchers,
    pub(super) told: Arc<Told>,
}

impl<'a> Watching<'a> {
    pub(super) fn begin(watchers: &'a Watchers) -> Self {
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
