//! Cache of prepared plans, by problem or by the plan's identity.

use super::prepared::Prepared;
use crate::gpu::driver::lock::Lock;
use crate::gpu::raw::trim_heap;
use crate::plan::{Plan, Problem};
use foldhash::{HashMap, HashMapExt};
use std::any::{Any, TypeId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the plan of a problem is kept for later calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum KeepPlan {
    Yes,
    /// The problem should be tuned, but could not be tuned now.
    No,
}

/// Prepared plans, by the type and value of their problem, and the number of plans prepared so far.
#[derive(Default)]
pub(in crate::gpu) struct PlanCache {
    plans: Lock<Plans>,
    /// Plans that an application has executed, by the identity of the plan. An entry keeps its plan alive, so the
    /// identity stays unique.
    by_identity: Lock<HashMap<usize, Arc<Prepared>>>,
    prepared: AtomicU64,
    /// Number of times that pipelines were forgotten.
    evictions: AtomicU64,
}

#[derive(Default)]
struct Plans {
    by_type: HashMap<TypeId, Box<dyn OfOneType>>,
}

/// The plans of the problems of one type.
trait OfOneType: Send {
    fn as_any(&mut self) -> &mut dyn Any;

    /// Removes the plans whose pipelines are not kept any more.
    fn forget_uncompiled(&mut self);
}

impl<P: Problem> OfOneType for HashMap<P, Arc<Prepared>> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn forget_uncompiled(&mut self) {
        self.retain(|_, prepared| prepared.is_compiled());
    }
}

/// Maximum number of plans for problems of one type, and of application's plans. Past it all of them are evicted at
/// once: planning again takes microseconds.
const MAX_PLANS: usize = 4096;

/// Number of times that pipelines are dropped before their plans are dropped too: a search of all plans takes longer than
/// a lookup of one.
const EVICTIONS: u64 = 64;

impl Plans {
    fn of<P: Problem>(&mut self) -> Option<&mut HashMap<P, Arc<Prepared>>> {
        let map = self
            .by_type
            .entry(TypeId::of::<P>())
            .or_insert_with(|| Box::new(HashMap::<P, Arc<Prepared>>::new()));
        map.as_any().downcast_mut()
    }
}

impl PlanCache {
    /// Number of plans that were prepared, one for each new problem.
    pub(in crate::gpu) fn prepared(&self) -> u64 {
        self.prepared.load(Ordering::Relaxed)
    }

    pub(in crate::gpu) fn get<P: Problem>(&self, problem: &P) -> Option<Arc<Prepared>> {
        self.plans.lock().of::<P>()?.get(problem).cloned()
    }

    /// Caches a prepared plan, unless the problem has a compiled one by now: another thread may have tuned it meanwhile. Returns
    /// the plan that is cached, and the evicted ones, to be dropped while no lock is held.
    pub(in crate::gpu) fn insert<P: Problem>(
        &self,
        problem: &P,
        prepared: Arc<Prepared>,
    ) -> (Arc<Prepared>, HashMap<P, Arc<Prepared>>) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let mut plans = self.plans.lock();
        let Some(map) = plans.of::<P>() else { return (prepared, HashMap::new()) };
        if let Some(known) = map.get(problem).filter(|known| known.is_compiled()) {
            return (known.clone(), HashMap::new());
        }
        let evicted = if map.len() >= MAX_PLANS { std::mem::take(map) } else { HashMap::new() };
        map.insert(problem.clone(), prepared.clone());
        (prepared, evicted)
    }

    /// Caches a prepared plan in place of the one that the problem has. Returns what is no longer cached: the caller must drop it
    /// while it holds no lock.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn replace<P: Problem>(&self, problem: &P, prepared: Arc<Prepared>) -> impl Sized {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let mut plans = self.plans.lock();
        let map = plans.of::<P>()?;
        let evicted = if map.len() >= MAX_PLANS { std::mem::take(map) } else { HashMap::new() };
        let replaced = map.insert(problem.clone(), prepared);
        Some((replaced, evicted))
    }

    /// Removes the plans of all problems. Returns them: the caller must drop them while it holds no lock.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn forget(&self) -> impl Sized {
        std::mem::take(&mut self.plans.lock().by_type)
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
        self.plans.lock().by_type.values_mut().for_each(|plans| plans.forget_uncompiled());
        self.by_identity.lock().retain(|_, prepared| prepared.is_compiled());
    }

    /// The prepared form of a plan that an application has executed before.
    pub(in crate::gpu) fn get_plan(&self, plan: &Plan) -> Option<Arc<Prepared>> {
        self.by_identity.lock().get(&plan.identity()).cloned()
    }

    /// As [`insert`](Self::insert), for an application's plan.
    pub(in crate::gpu) fn insert_plan(
        &self,
        plan: &Plan,
        prepared: Arc<Prepared>,
    ) -> HashMap<usize, Arc<Prepared>> {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let mut forgotten = HashMap::new();
        let mut by_identity = self.by_identity.lock();
        if by_identity.len() >= MAX_PLANS {
            std::mem::swap(&mut *by_identity, &mut forgotten);
        }
        by_identity.insert(plan.identity(), prepared);
        forgotten
    }
}
