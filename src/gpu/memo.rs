//! Plans that were prepared before, by their problems or by themselves.

use super::lock::Lock;
use super::prepared::Prepared;
use crate::plan::{Plan, Problem};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Problems seen before, by type, and how many plans were prepared.
#[derive(Default)]
pub(super) struct Memo {
    plans: Lock<Plans>,
    /// Plans that an application has executed, by their identity: what is kept keeps its plan.
    given: Lock<HashMap<usize, Arc<Prepared>>>,
    prepared: AtomicU64,
}

#[derive(Default)]
struct Plans {
    by_type: HashMap<TypeId, Box<dyn Any + Send>>,
}

/// More problems than this of one kind are forgotten, all at once: planning again takes microseconds.
const MEMO_AT_MOST: usize = 4096;

impl Plans {
    fn of<P: Problem>(&mut self) -> Option<&mut HashMap<P, Arc<Prepared>>> {
        let map = self
            .by_type
            .entry(TypeId::of::<P>())
            .or_insert_with(|| Box::new(HashMap::<P, Arc<Prepared>>::new()));
        map.downcast_mut()
    }
}

impl Memo {
    /// How many plans were prepared: problems that were not seen before.
    pub(super) fn prepared(&self) -> u64 {
        self.prepared.load(Ordering::Relaxed)
    }

    pub(super) fn get<P: Problem>(&self, problem: &P) -> Option<Arc<Prepared>> {
        self.plans.lock().of::<P>()?.get(problem).cloned()
    }

    /// Keeps a prepared plan. Returns those that it displaces: the caller drops them where it holds no lock.
    pub(super) fn insert<P: Problem>(
        &self,
        problem: &P,
        prepared: Arc<Prepared>,
    ) -> HashMap<P, Arc<Prepared>> {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let mut forgotten = HashMap::new();
        if let Some(map) = self.plans.lock().of::<P>() {
            if map.len() >= MEMO_AT_MOST {
                std::mem::swap(map, &mut forgotten);
            }
            map.insert(problem.clone(), prepared);
        }
        forgotten
    }

    /// A plan that an application has executed before, prepared.
    pub(super) fn get_given(&self, plan: &Plan) -> Option<Arc<Prepared>> {
        self.given.lock().get(&plan.identity()).cloned()
    }

    /// As [`insert`](Self::insert), for a plan that an application has.
    pub(super) fn insert_given(&self, plan: &Plan, prepared: Arc<Prepared>) -> HashMap<usize, Arc<Prepared>> {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let mut forgotten = HashMap::new();
        let mut given = self.given.lock();
        if given.len() >= MEMO_AT_MOST {
            std::mem::swap(&mut *given, &mut forgotten);
        }
        given.insert(plan.identity(), prepared);
        forgotten
    }
}
