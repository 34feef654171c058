//! Cache of prepared plans, by problem or by the plan's identity.

use super::prepared::Prepared;
use crate::gpu::driver::lock::{Lock, Locked};
use crate::gpu::raw::trim_heap;
use crate::plan::{AnyProblem, Plan};
use foldhash::{HashMap, HashMapExt};
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the plan of a problem is kept for later calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum KeepPlan {
    Yes,
    /// The problem should be tuned, but could not be tuned now.
    No,
}

/// Prepared plans, and the number of plans prepared so far.
#[derive(Default)]
pub(in crate::gpu) struct PlanCache {
    plans: Lock<HashMap<Box<AnyProblem>, Arc<Prepared>>>,
    /// Plans that an application has executed, by the identity of the plan. An entry keeps its plan alive, so the
    /// identity stays unique.
    by_identity: Lock<HashMap<usize, Arc<Prepared>>>,
    prepared: AtomicU64,
    /// Number of times that pipelines were forgotten.
    evictions: AtomicU64,
}

/// Maximum number of plans of problems, and of application's plans. Past it all of them are evicted at once: planning again
/// takes microseconds.
const MAX_PLANS: usize = 4096;

/// Number of times that pipelines are dropped before their plans are dropped too: a search of all plans takes longer than
/// a lookup of one.
const EVICTIONS: u64 = 64;

impl PlanCache {
    /// Number of plans that were prepared, one for each new problem.
    pub(in crate::gpu) fn prepared(&self) -> u64 {
        self.prepared.load(Ordering::Relaxed)
    }

    pub(in crate::gpu) fn get(&self, problem: &AnyProblem) -> Option<Arc<Prepared>> {
        self.plans.lock().get(problem).cloned()
    }

    /// Caches a prepared plan, unless the problem has a compiled one by now: another thread may have tuned it meanwhile. Returns
    /// the plan that is cached.
    pub(in crate::gpu) fn insert(&self, problem: &AnyProblem, prepared: Arc<Prepared>) -> Arc<Prepared> {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let own = problem.boxed(); // by the problem's own code, while no lock is held
        let plans = self.plans.lock();
        if let Some(known) = plans.get(problem).filter(|known| known.is_compiled()) {
            return known.clone();
        }
        put(plans, own, prepared.clone());
        prepared
    }

    /// Caches a prepared plan in place of the one that the problem has.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn replace(&self, problem: &AnyProblem, prepared: Arc<Prepared>) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let own = problem.boxed(); // by the problem's own code, while no lock is held
        put(self.plans.lock(), own, prepared);
    }

    /// Removes the plans of all problems. Returns them: the caller must drop them while it holds no lock.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn forget(&self) -> impl Sized {
        std::mem::take(&mut *self.plans.lock())
    }

    /// Pipelines were dropped. From time to time this drops their plans too, and trims the heap.
    pub(in crate::gpu) fn note_eviction(&self) {
        if self.evictions.fetch_add(1, Ordering::Relaxed) % EVICTIONS == EVICTIONS - 1 {
            self.forget_uncompiled();
            trim_heap();
        }
    }

    /// Removes the plans whose pipelines are not kept any more.
    pub(in crate::gpu) fn forget_uncompiled(&self) {
        self.plans.lock().retain(|_, prepared| prepared.is_compiled());
        self.by_identity.lock().retain(|_, prepared| prepared.is_compiled());
    }

    /// The prepared form of a plan that an application has executed before.
    pub(in crate::gpu) fn get_plan(&self, plan: &Plan) -> Option<Arc<Prepared>> {
        self.by_identity.lock().get(&plan.identity()).cloned()
    }

    /// Caches the prepared form of an application's plan.
    pub(in crate::gpu) fn insert_plan(&self, plan: &Plan, prepared: Arc<Prepared>) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        put(self.by_identity.lock(), plan.identity(), prepared);
    }
}

/// Adds an entry. What is no longer cached is dropped while no lock is held.
fn put<K: Eq + Hash>(mut plans: Locked<'_, HashMap<K, Arc<Prepared>>>, key: K, prepared: Arc<Prepared>) {
    let evicted = if plans.len() >= MAX_PLANS { std::mem::take(&mut *plans) } else { HashMap::new() };
    let replaced = plans.insert(key, prepared);
    drop(plans);
    drop((replaced, evicted));
}
