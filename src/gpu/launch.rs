//! From a problem to a launch: its plan and pipeline, looked up by the problem, and its bindings.

use super::lock::Lock;
use super::memory::{Allocation, window};
use super::pipeline::Pipeline;
use super::recording::{Access, Bound};
use super::{Caps, Gpu};
use crate::Result;
use crate::kernel::Plan;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

/// What an operation computes, as a value that its plan depends on alone.
pub(crate) trait Problem: Clone + Eq + Hash + Send + 'static {
    /// How to compute it on a device: the one choice of the operation.
    fn plan(&self, caps: &Caps) -> Result<Plan>;
}

/// A plan and its compiled kernel.
pub(crate) struct Prepared {
    plan: Plan,
    pipeline: Arc<Pipeline>,
    then: Option<Box<Prepared>>,
}

impl Prepared {
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The launch behind this one.
    pub(crate) fn then(&self) -> Option<&Self> {
        self.then.as_deref()
    }

    pub(super) fn pipeline(&self) -> &Arc<Pipeline> {
        &self.pipeline
    }
}

/// Problems seen before, by type.
#[derive(Default)]
pub(super) struct Memo(Lock<Plans>);

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
    fn get<P: Problem>(&self, problem: &P) -> Option<Arc<Prepared>> {
        self.0.lock().of::<P>()?.get(problem).cloned()
    }

    /// Keeps a prepared plan. Returns those that it displaces: the caller drops them where it holds no lock.
    fn insert<P: Problem>(&self, problem: &P, prepared: Arc<Prepared>) -> HashMap<P, Arc<Prepared>> {
        let mut forgotten = HashMap::new();
        if let Some(map) = self.0.lock().of::<P>() {
            if map.len() >= MEMO_AT_MOST {
                std::mem::swap(map, &mut forgotten);
            }
            map.insert(problem.clone(), prepared);
        }
        forgotten
    }
}

/// A window of a tensor's buffer that a kernel sees.
#[derive(Clone)]
pub(crate) struct Binding<'a> {
    allocation: &'a Allocation,
    window: Range<u64>,
    /// Where the operation writes the whole storage and reads nothing of it: the sequence at which it begins.
    overwritten_from: Option<u64>,
}

impl<'a> Binding<'a> {
    /// The window that holds these bytes of `allocation`.
    pub(crate) fn new(allocation: &'a Allocation, bytes: Range<u64>) -> Self {
        Self { allocation, window: window(bytes), overwritten_from: None }
    }

    /// The same window, of an output whose whole storage the operation that begins at this sequence writes, and of which
    /// it reads nothing: what an earlier launch has failed to write there no longer matters.
    pub(crate) fn overwritten_from(self, begun: u64) -> Self {
        Self { overwritten_from: Some(begun), ..self }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.window.end - self.window.start
    }

    /// Fails if the contents were never computed, because a launch failed.
    pub(super) fn check(&self) -> Result<()> {
        if self.overwritten_from.is_some() { Ok(()) } else { self.allocation.check() }
    }

    pub(super) fn bound(&self, writes: bool) -> Bound {
        let access = match (writes, self.overwritten_from) {
            (false, _) => Access::Read,
            (true, None) => Access::Write,
            (true, Some(begun)) => Access::Overwrite { begun },
        };
        Bound::new(self.allocation.storage().clone(), self.window.clone(), access)
    }
}

impl Gpu {
    /// Plan and pipeline for `problem`: looked up if it was seen before.
    pub(crate) fn planned<P: Problem>(&self, problem: &P) -> Result<Arc<Prepared>> {
        self.inner.fault.check()?;
        if let Some(prepared) = self.inner.memo.get(problem) {
            return Ok(prepared);
        }
        // Neither planning nor compiling holds the lock: two threads may do the same work once.
        let plan = problem.plan(&self.inner.caps)?;
        let prepared = Arc::new(self.compiled(plan)?);
        drop(self.inner.memo.insert(problem, prepared.clone()));
        Ok(prepared)
    }

    /// Compiles a plan's kernel ahead of its first launch.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the driver refuses the kernel.
    pub fn prepare(&self, plan: &Plan) -> Result<()> {
        self.inner.fault.check()?;
        self.compiled(plan.clone()).map(|_| ())
    }

    fn compiled(&self, plan: Plan) -> Result<Prepared> {
        let pipeline = self.inner.pipelines.get(&self.inner.device, &plan.kernel)?;
        let then = plan.then.as_deref().map(|then| self.compiled(then.clone())).transpose()?.map(Box::new);
        Ok(Prepared { plan, pipeline, then })
    }
}
