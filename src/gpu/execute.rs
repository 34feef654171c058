//! Running plans: the one way in which this crate launches anything.

use super::lock::Lock;
use super::memory::Allocation;
use super::pipeline::Pipeline;
use super::record::Launch;
use super::recording::{self, Bound};
use super::{Binding, Caps, Gpu};
use crate::kernel::Kernel;
use crate::plan::{Access, Buffer, Plan, Problem, Scalar};
use crate::tensor::{View, check_same_gpu};
use crate::{Error, Result};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A plan with its compiled kernels, ready to be executed any number of times.
pub(crate) struct Prepared {
    plan: Plan,
    /// Of each step.
    pipelines: Vec<Arc<Pipeline>>,
    slots: Slots,
}

/// Which buffers hold the temporaries of a plan: a buffer holds another one after the last step that binds the one before.
struct Slots {
    /// Bytes of each buffer.
    bytes: Vec<u64>,
    /// Of each temporary, its buffer, and the step that writes it first, where another temporary was there before.
    of: Vec<(usize, Option<usize>)>,
}

impl Slots {
    fn of(plan: &Plan) -> Self {
        // Of each temporary, the first and the last step that bind it.
        let mut lives = vec![(usize::MAX, 0); plan.temporaries().len()];
        for (at, step) in plan.steps().iter().enumerate() {
            for arg in &step.args {
                if let Buffer::Temporary(index) = arg.buffer {
                    lives[index] = (lives[index].0.min(at), at);
                }
            }
        }
        let mut order: Vec<usize> = (0..lives.len()).collect();
        order.sort_by_key(|&temporary| lives[temporary].0);
        let mut slots = Self { bytes: Vec::new(), of: vec![(0, None); lives.len()] };
        // Until which step each buffer is taken.
        let mut taken: Vec<usize> = Vec::new();
        for temporary in order {
            let (needed, (first, last)) = (plan.temporaries()[temporary], lives[temporary]);
            let free = (0..taken.len()).filter(|&slot| taken[slot] < first && slots.bytes[slot] >= needed);
            slots.of[temporary] = match free.min_by_key(|&slot| slots.bytes[slot]) {
                Some(slot) => {
                    taken[slot] = last;
                    (slot, Some(first))
                }
                None => {
                    slots.bytes.push(needed);
                    taken.push(last);
                    (taken.len() - 1, None)
                }
            };
        }
        slots
    }
}

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

    fn get<P: Problem>(&self, problem: &P) -> Option<Arc<Prepared>> {
        self.plans.lock().of::<P>()?.get(problem).cloned()
    }

    /// Keeps a prepared plan. Returns those that it displaces: the caller drops them where it holds no lock.
    fn insert<P: Problem>(&self, problem: &P, prepared: Arc<Prepared>) -> HashMap<P, Arc<Prepared>> {
        let mut forgotten = HashMap::new();
        if let Some(map) = self.plans.lock().of::<P>() {
            if map.len() >= MEMO_AT_MOST {
                std::mem::swap(map, &mut forgotten);
            }
            map.insert(problem.clone(), prepared);
        }
        forgotten
    }
}

impl Gpu {
    /// Executes a plan: records its steps, which run in their order behind what was recorded before.
    ///
    /// `operands` are views of tensors of this device, in the order of [`Plan::parameters`]: [`Tensor::view_mut`] of what the
    /// plan writes, [`Tensor::view`] of the rest. `scalars` are the numbers that [`Plan::scalars`] names.
    ///
    /// [`Tensor::view`]: crate::Tensor::view
    /// [`Tensor::view_mut`]: crate::Tensor::view_mut
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::ops::{Elementwise, ElementwiseProblem};
    /// use tilewise::plan::Problem;
    ///
    /// let a = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
    /// let mut c = gpu.empty::<f32>([3])?;
    /// let problem =
    ///     ElementwiseProblem::new(Elementwise::Add, &[a.layout(), a.layout()], c.layout(), tilewise::DType::F32)?;
    /// let plan = problem.plan(gpu.caps())?;
    /// gpu.execute(&plan, &[c.view_mut()?, a.view(), a.view()], &[])?;
    /// assert_eq!(c.to_vec()?, [2.0, 4.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`] if there are not as many operands or scalars as the plan takes, an operand is of another type, or
    /// what the plan writes is no [`Tensor::view_mut`]; [`Error::Shape`] if an operand's shape or strides are others than the
    /// plan was made for; [`Error::Gpu`] of an operand on another device; [`Error::Unsupported`] if this device lacks what
    /// the plan was made for, [`Error::OutOfMemory`] without room for its temporaries. Nothing is recorded then.
    pub fn execute(&self, plan: &Plan, operands: &[View<'_>], scalars: &[Scalar]) -> Result<()> {
        self.inner.fault.check()?;
        let prepared = self.prepared_plan(plan)?;
        plan.check_operands(self, operands)?;
        let operands: Vec<View<'_>> = operands.iter().map(View::overwritten_if_whole).collect();
        self.launch_all(&prepared, &operands, scalars)
    }

    /// Executes the plan of a problem, made for these operands: looked up if it was seen before.
    pub(crate) fn run<P: Problem>(
        &self,
        problem: &P,
        operands: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        let prepared = self.prepared(problem)?;
        debug_assert!(
            prepared.plan.check_layouts(operands).is_ok(),
            "{:?} for {operands:?}",
            prepared.plan.parameters()
        );
        self.launch_all(&prepared, operands, scalars)
    }

    /// Plan and pipelines for `problem`: looked up if it was seen before.
    pub(crate) fn prepared<P: Problem>(&self, problem: &P) -> Result<Arc<Prepared>> {
        self.inner.fault.check()?;
        if let Some(prepared) = self.inner.plans.get(problem) {
            return Ok(prepared);
        }
        // Neither planning nor compiling holds the lock: two threads may do the same work once.
        let prepared = Arc::new(self.compiled(problem.plan(self.caps())?)?);
        self.inner.plans.prepared.fetch_add(1, Ordering::Relaxed);
        drop(self.inner.plans.insert(problem, prepared.clone()));
        Ok(prepared)
    }

    /// Compiles a plan's kernels ahead of its first execution.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses a kernel; [`Error::Unsupported`] if this device lacks what a step needs.
    pub fn prepare(&self, plan: &Plan) -> Result<()> {
        self.inner.fault.check()?;
        self.prepared_plan(plan).map(|_| ())
    }

    /// Compiles a kernel, which nothing runs: for this crate's own tests.
    #[doc(hidden)]
    pub fn compile(&self, kernel: &Kernel) -> Result<()> {
        self.inner.fault.check()?;
        self.inner.pipelines.get(&self.inner.device, kernel).map(|_| ())
    }

    /// A plan that an application has.
    fn prepared_plan(&self, plan: &Plan) -> Result<Arc<Prepared>> {
        let known = self.inner.plans.given.lock().get(&plan.identity()).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        plan.check_on(self.caps())?;
        let prepared = Arc::new(self.compiled(plan.clone())?);
        self.inner.plans.prepared.fetch_add(1, Ordering::Relaxed);
        let mut forgotten = HashMap::new();
        let mut given = self.inner.plans.given.lock();
        if given.len() >= MEMO_AT_MOST {
            std::mem::swap(&mut *given, &mut forgotten);
        }
        given.insert(plan.identity(), prepared.clone());
        drop(given);
        Ok(prepared)
    }

    fn compiled(&self, plan: Plan) -> Result<Prepared> {
        let pipeline = |step: &crate::plan::Step| self.inner.pipelines.get(&self.inner.device, &step.kernel);
        let pipelines = plan.steps().iter().map(pipeline).collect::<Result<_>>()?;
        Ok(Prepared { slots: Slots::of(&plan), pipelines, plan })
    }

    /// Records all steps, once everything that they need is there.
    fn launch_all(&self, prepared: &Prepared, operands: &[View<'_>], scalars: &[Scalar]) -> Result<()> {
        let Prepared { plan, pipelines, slots, .. } = prepared;
        if (operands.len(), scalars.len()) != (plan.parameters().len(), plan.scalars().len()) {
            let [found, needed] =
                [[operands.len(), scalars.len()], [plan.parameters().len(), plan.scalars().len()]]
                    .map(|[operands, scalars]| format!("{operands} operands and {scalars} scalars"));
            return Err(Error::input(plan.op(), format!("the plan takes {needed}, not {found}")));
        }
        let operands: Vec<_> = operands.iter().map(View::bind).collect();
        operands.iter().try_for_each(Binding::check)?;
        let allocate = |&bytes: &u64| self.allocate(plan.op(), bytes);
        let temporaries = slots.bytes.iter().map(allocate).collect::<Result<Vec<Allocation>>>()?;
        let constants = plan.constants().iter().map(|constant| self.constant(plan.op(), constant));
        let constants = constants.collect::<Result<Vec<_>>>()?;
        self.inner.watchers.tell(plan);
        for (at, (step, pipeline)) in plan.steps().iter().zip(pipelines).enumerate() {
            let bound = step.args.iter().zip(&pipeline.writes).map(|(arg, &writes)| match arg.buffer {
                Buffer::Operand(index) => operands[index].part(&arg.window).bound(writes),
                Buffer::Temporary(index) => {
                    let (slot, begins) = slots.of[index];
                    let storage = &temporaries[slot];
                    let access = match (writes, begins) {
                        (false, _) => recording::Access::Read,
                        // Another temporary was there before, whatever became of that.
                        (true, Some(first)) if first == at => {
                            recording::Access::Overwrite { begun: storage.begin_write() }
                        }
                        (true, _) => recording::Access::Write,
                    };
                    Bound::new(storage.storage().clone(), arg.window.clone(), access)
                }
                Buffer::Constant(index) => Bound::new(
                    constants[index].storage().clone(),
                    arg.window.clone(),
                    recording::Access::Read,
                ),
            });
            let bound: Vec<Bound> = bound.collect();
            self.record(Launch {
                pipeline,
                bound,
                dims: &step.dims,
                scalars: &step.scalars,
                values: scalars,
                grid: step.grid,
                seconds: step.seconds,
            })?;
        }
        Ok(())
    }
}

impl Plan {
    /// Checks operands of an application.
    fn check_operands(&self, gpu: &Gpu, operands: &[View<'_>]) -> Result<()> {
        for (parameter, view) in self.parameters().iter().zip(operands) {
            check_same_gpu(self.op(), gpu, view.gpu())?;
            if view.dtype != parameter.dtype {
                let why = format!("the plan is for {}, not {}", parameter.dtype, view.dtype);
                return Err(Error::input(format!("{}: {}", self.op(), parameter.name), why));
            }
            if parameter.access != Access::Read && !view.is_exclusive() {
                let why = "the plan writes it: pass a `view_mut`";
                return Err(Error::input(format!("{}: {}", self.op(), parameter.name), why));
            }
        }
        self.check_layouts(operands)
    }

    /// Checks that operands lie where the plan has them.
    fn check_layouts(&self, operands: &[View<'_>]) -> Result<()> {
        for (parameter, view) in self.parameters().iter().zip(operands) {
            if !parameter.layout.admits(&view.layout, view.dtype) {
                return Err(Error::Shape {
                    op: self.op(),
                    rule: format!(
                        "{} must lie as the plan has it, strides {:?} and {} elements from its window",
                        parameter.name,
                        parameter.layout.strides(),
                        parameter.layout.offset()
                    )
                    .into(),
                    remedy: "",
                    lhs: view.layout.shape().to_vec(),
                    rhs: Some(parameter.layout.shape().to_vec()),
                });
            }
        }
        Ok(())
    }

    /// Checks that a device, perhaps not the one that the plan was made for, can run it.
    fn check_on(&self, caps: &Caps) -> Result<()> {
        for step in self.steps() {
            let lacks =
                |needs: String| Error::Unsupported { op: self.op(), needs, device: caps.adapter.clone() };
            step.needs.fit(caps).map_err(lacks)?;
            step.kernel.fits(caps, step.dims.len()).map_err(lacks)?;
            if step.grid.iter().any(|&axis| axis > caps.limits.grid) {
                let needs = format!("a grid of {:?} workgroups", step.grid);
                return Err(lacks(needs));
            }
            let bytes = step.args.iter().map(|arg| arg.window.end - arg.window.start).max().unwrap_or(0);
            if bytes > caps.limits.binding_bytes {
                return Err(lacks(format!("a binding of {bytes} bytes")));
            }
        }
        Ok(())
    }
}
