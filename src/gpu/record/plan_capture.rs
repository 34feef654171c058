//! Captures the plans that are executed during a call.

use crate::gpu::driver::lock::Lock;
use crate::plan::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The active captures of a device.
#[derive(Default)]
pub(in crate::gpu) struct PlanCaptures {
    all: Lock<Vec<Arc<CapturedPlans>>>,
    /// Number of active captures. While it is 0, executing a plan takes no lock.
    active: AtomicUsize,
}

/// The plans that one capture has collected.
pub(in crate::gpu) type CapturedPlans = Lock<Vec<Plan>>;

impl PlanCaptures {
    pub(in crate::gpu) fn add(&self, executed: &[Plan]) {
        if self.active.load(Ordering::Relaxed) > 0 {
            let all = self.all.lock().clone();
            all.iter().for_each(|plans| plans.lock().extend_from_slice(executed));
        }
    }
}

/// A capture, active until it is dropped.
pub(in crate::gpu) struct PlanCapture<'a> {
    captures: &'a PlanCaptures,
    pub(in crate::gpu) plans: Arc<CapturedPlans>,
}

impl<'a> PlanCapture<'a> {
    pub(in crate::gpu) fn begin(captures: &'a PlanCaptures) -> Self {
        let plans = Arc::new(CapturedPlans::default());
        captures.all.lock().push(plans.clone());
        captures.active.fetch_add(1, Ordering::Relaxed);
        Self { captures, plans }
    }
}

impl Drop for PlanCapture<'_> {
    fn drop(&mut self) {
        self.captures.active.fetch_sub(1, Ordering::Relaxed);
        self.captures.all.lock().retain(|plans| !Arc::ptr_eq(plans, &self.plans));
    }
}
