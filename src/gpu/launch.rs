//! From a problem to a recorded launch: plan and pipeline, looked up by the problem.

use super::memory::{Allocation, window};
use super::pipeline::Pipeline;
use super::record::Entry;
use super::{Caps, Gpu, lock};
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
}

/// Problems seen before, by type. A tuner's remembered winners will be looked up here, before the search.
#[derive(Default)]
pub(super) struct Memo {
    by_type: HashMap<TypeId, Box<dyn Any + Send>>,
}

/// More problems than this of one kind are forgotten, all at once: planning again takes microseconds.
const MEMO_AT_MOST: usize = 4096;

impl Memo {
    fn of<P: Problem>(&mut self) -> Option<&mut HashMap<P, Arc<Prepared>>> {
        let map = self
            .by_type
            .entry(TypeId::of::<P>())
            .or_insert_with(|| Box::new(HashMap::<P, Arc<Prepared>>::new()));
        map.downcast_mut()
    }

    fn get<P: Problem>(&mut self, problem: &P) -> Option<Arc<Prepared>> {
        self.of::<P>()?.get(problem).cloned()
    }

    fn insert<P: Problem>(&mut self, problem: &P, prepared: Arc<Prepared>) {
        if let Some(map) = self.of::<P>() {
            if map.len() >= MEMO_AT_MOST {
                map.clear();
            }
            map.insert(problem.clone(), prepared);
        }
    }
}

/// A window of a tensor's buffer that a kernel sees.
#[derive(Clone)]
pub(crate) struct Binding<'a> {
    allocation: &'a Allocation,
    window: Range<u64>,
}

impl<'a> Binding<'a> {
    /// The window that holds these bytes of `allocation`.
    pub(crate) fn new(allocation: &'a Allocation, bytes: Range<u64>) -> Self {
        Self { allocation, window: window(bytes) }
    }
}

impl Gpu {
    /// Plan and pipeline for `problem`: looked up if it was seen before.
    pub(crate) fn planned<P: Problem>(&self, problem: &P) -> Result<Arc<Prepared>> {
        self.inner.fault.check()?;
        if let Some(prepared) = lock(&self.inner.memo).get(problem) {
            return Ok(prepared);
        }
        // Neither planning nor compiling holds the lock: two threads may do the same work once.
        let plan = problem.plan(&self.inner.caps)?;
        let prepared = Arc::new(self.compiled(plan)?);
        lock(&self.inner.memo).insert(problem, prepared.clone());
        Ok(prepared)
    }

    /// Records one launch with these dims and operands, the latter in the order in which the shader declares them.
    pub(crate) fn launch(&self, prepared: &Prepared, dims: &[u8], bindings: &[Binding<'_>]) -> Result<()> {
        let bind_group = prepared.pipeline.bind(&self.inner.device, bindings.iter().map(Binding::resource));
        let entry = Entry {
            pipeline: &prepared.pipeline,
            bind_group: &bind_group,
            dims,
            grid: prepared.plan.grid,
            seconds: prepared.plan.seconds,
        };
        self.record(&entry, bindings.iter().map(|binding| binding.allocation))?;
        let mut counts = lock(&self.inner.counts);
        counts.launches += 1;
        for (binding, &writes) in bindings.iter().zip(&prepared.pipeline.writes) {
            let bytes = binding.window.end - binding.window.start;
            if writes {
                counts.bytes_bound_for_writing += bytes;
            } else {
                counts.bytes_bound_for_reading += bytes;
            }
        }
        Ok(())
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

impl Binding<'_> {
    fn resource(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: self.allocation.buffer(),
            offset: self.window.start,
            size: std::num::NonZeroU64::new(self.window.end - self.window.start),
        })
    }
}
