//! Running plans: the one way in which this crate launches anything.

use super::binding::Binding;
use super::handle::Gpu;
use super::launch::Launch;
use super::lives::{Lives, Outputs};
use super::memory::Allocation;
use super::prepared::Prepared;
use super::recording::{BoundWindow, Use};
use super::same::check_same_gpu;
use super::storage::Storage;
use super::view::View;
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::plan::{Access, Arg, Buffer, Parameter, Plan, Problem, Scalar};
use crate::{Error, Result};
use std::sync::Arc;

/// An operand of a call.
enum Operand<'a> {
    There(Binding<'a>),
    /// The plan makes it: allocated for the first step that binds it.
    New(Option<Allocation>),
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
    /// use tilewise::planning::ops::{Elementwise, ElementwiseProblem};
    /// use tilewise::planning::Problem;
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
    /// [`Error::Input`] if there are not as many operands or scalars as the plan takes, one is of another type, what the plan
    /// writes is no [`Tensor::view_mut`], or it is another operand as well; [`Error::Shape`] if an operand's shape or strides
    /// are others than the plan was made for; [`Error::Gpu`] of an operand on another device; [`Error::Unsupported`] if this
    /// device lacks what the plan was made for; [`Error::OutOfMemory`] without room for its temporaries. Nothing is recorded
    /// then. Where another thread, or the driver, takes that room while the steps are recorded, what the plan writes has no
    /// result and is an error to read.
    /// [`Error::Device`] if an operand that is read was never computed, because a launch failed, or the device is lost.
    pub fn execute(&self, plan: &Plan, operands: &[View<'_>], scalars: &[Scalar]) -> Result<()> {
        self.inner.fault.check()?;
        plan.check_call(self, operands, scalars)?;
        let prepared = self.prepared_plan(plan)?;
        let operands: Vec<(Access, View<'_>)> =
            plan.parameters().iter().map(|to| to.access).zip(operands.iter().copied()).collect();
        // What an earlier launch has failed to write no longer matters where this plan writes all of it.
        let bound = operands.iter().map(|&(access, view)| match access {
            Access::Write => Operand::There(view.overwritten_if_whole().bind()),
            Access::Read | Access::Update => Operand::There(view.bind()),
        });
        let mut bound: Vec<Operand<'_>> = bound.collect();
        let begun = self.inner.recorder.lock().next_sequence();
        self.launch_all(&prepared, Outputs::Held, &mut bound, scalars).inspect_err(|error| {
            // What some steps have written and others have not is no result.
            for (_, view) in operands.iter().filter(|(access, _)| *access != Access::Read) {
                view.fail_if_written_since(begun, error);
            }
        })
    }

    /// Executes the plan of a problem, made for these operands, of which those that it writes may hold something: looked up if
    /// it was seen before. If it fails between two steps, the caller marks what they leave.
    pub(crate) fn run<P: Problem>(
        &self,
        problem: &P,
        operands: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        let prepared = self.prepared(problem)?;
        prepared.check_own(prepared.plan.parameters(), operands, scalars);
        let mut operands: Vec<_> = operands.iter().map(|view| Operand::There(view.bind())).collect();
        self.launch_all(&prepared, Outputs::Held, &mut operands, scalars)
    }

    /// Executes the plan of a problem, made for these inputs, which are all that it does not write. Returns what it writes, in
    /// new buffers.
    pub(crate) fn make<P: Problem, const N: usize>(
        &self,
        problem: &P,
        inputs: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<[Allocation; N]> {
        let prepared = self.prepared(problem)?;
        let parameters = prepared.plan.parameters();
        prepared.check_own(parameters.iter().filter(|to| to.access != Access::Write), inputs, scalars);
        let mut inputs = inputs.iter();
        let operand = |to: &Parameter| match to.access {
            Access::Write => Ok(Operand::New(None)),
            Access::Read | Access::Update => {
                let missing = || Error::device(format!("{} takes more operands", prepared.plan.op()));
                Ok(Operand::There(inputs.next().ok_or_else(missing)?.bind()))
            }
        };
        let mut operands = parameters.iter().map(operand).collect::<Result<Vec<_>>>()?;
        self.launch_all(&prepared, Outputs::New, &mut operands, scalars)?;
        let made = operands.into_iter().filter_map(|operand| match operand {
            Operand::There(_) => None,
            Operand::New(made) => made,
        });
        let made: Vec<Allocation> = made.collect();
        Ok(made.try_into().unwrap_or_else(|made: Vec<_>| unreachable!("{} results, not {N}", made.len())))
    }

    /// Plan and pipelines for `problem`: looked up if it was seen before.
    pub(super) fn prepared<P: Problem>(&self, problem: &P) -> Result<Arc<Prepared>> {
        self.inner.fault.check()?;
        if let Some(prepared) = self.inner.plans.get(problem) {
            return Ok(prepared);
        }
        // Neither planning nor compiling holds the lock: two threads may do the same work once.
        let prepared = Arc::new(self.compiled(problem.plan(self.caps())?)?);
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

    /// A plan that an application has.
    fn prepared_plan(&self, plan: &Plan) -> Result<Arc<Prepared>> {
        if let Some(known) = self.inner.plans.get_given(plan) {
            return Ok(known);
        }
        plan.check_on(self.caps())?;
        let prepared = Arc::new(self.compiled(plan.clone())?);
        drop(self.inner.plans.insert_given(plan, prepared.clone()));
        Ok(prepared)
    }

    fn compiled(&self, plan: Plan) -> Result<Prepared> {
        let pipeline = |step: &crate::plan::Step| self.inner.pipelines.get(&self.inner.device, &step.kernel);
        let pipelines = plan.steps().iter().map(pipeline).collect::<Result<_>>()?;
        let pool = self.inner.pool.lock();
        let lives = Lives::of(&plan, |bytes| pool.class(bytes));
        drop(pool);
        Ok(Prepared { pipelines, lives, plan })
    }

    /// Records all steps, once everything that they need is there or has room. Every [`Operand::New`] holds its buffer then.
    fn launch_all(
        &self,
        prepared: &Prepared,
        outputs: Outputs,
        operands: &mut [Operand<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        let Prepared { plan, pipelines, lives } = prepared;
        for operand in &*operands {
            if let Operand::There(binding) = operand {
                binding.check()?;
            }
        }
        let constants = plan.constants().iter().map(|constant| self.constant(plan.op(), constant));
        let constants = constants.collect::<Result<Vec<_>>>()?;
        self.check_room(plan.op(), lives.room(outputs))?;
        self.inner.watchers.tell(plan);
        let mut temporaries: Vec<Option<Allocation>> = plan.temporaries().iter().map(|_| None).collect();
        for (at, (step, pipeline)) in plan.steps().iter().zip(pipelines).enumerate() {
            let mut bound = Vec::with_capacity(step.args.len());
            for (arg, &writes) in step.args.iter().zip(&pipeline.writes) {
                bound.push(match arg.buffer {
                    Buffer::Operand(index) => match &mut operands[index] {
                        Operand::There(binding) => binding.part(&arg.window).bound(writes),
                        Operand::New(made) => {
                            arg.bind(self.made(plan, made, plan.parameters()[index].new_bytes())?, writes)
                        }
                    },
                    Buffer::Temporary(index) => {
                        let bytes = plan.temporaries()[index];
                        arg.bind(self.made(plan, &mut temporaries[index], bytes)?, writes)
                    }
                    Buffer::Constant(index) => arg.bind(constants[index].storage(), false),
                });
            }
            self.record(Launch {
                pipeline,
                bound,
                dims: &step.dims,
                scalars: &step.scalars,
                values: scalars,
                grid: step.grid,
                seconds: step.seconds,
            })?;
            for arg in &step.args {
                if let Buffer::Temporary(index) = arg.buffer
                    && lives.ends(index, at)
                {
                    temporaries[index] = None;
                }
            }
        }
        // What no step binds is there all the same.
        for (operand, to) in operands.iter_mut().zip(plan.parameters()) {
            if let Operand::New(made) = operand {
                self.made(plan, made, to.new_bytes())?;
            }
        }
        Ok(())
    }

    /// The buffer in its place, where it is allocated if it is not there yet.
    fn made<'a>(
        &self,
        plan: &Plan,
        place: &'a mut Option<Allocation>,
        bytes: u64,
    ) -> Result<&'a Arc<Storage>> {
        let there = match place.take() {
            Some(there) => there,
            None => self.allocate(plan.op(), bytes)?,
        };
        Ok(place.insert(there).storage())
    }
}

impl Prepared {
    /// Checks, where assertions are on, that this crate passes what the plan was made for.
    fn check_own<'a>(
        &self,
        parameters: impl IntoIterator<Item = &'a Parameter, IntoIter: Clone>,
        operands: &[View<'_>],
        scalars: &[Scalar],
    ) {
        let parameters = parameters.into_iter();
        debug_assert_eq!(parameters.clone().count(), operands.len(), "{}", self.plan);
        debug_assert!(
            self.plan.check_layouts(parameters.clone(), operands).is_ok(),
            "{:?} for {operands:?}",
            parameters.collect::<Vec<_>>()
        );
        debug_assert!(self.plan.check_scalars(scalars).is_ok(), "{:?}", self.plan.scalars());
    }
}

impl Arg {
    /// The window of a buffer that has nothing but what the plan puts there.
    fn bind(&self, storage: &Arc<Storage>, writes: bool) -> BoundWindow {
        BoundWindow::new(storage.clone(), self.window.clone(), if writes { Use::Write } else { Use::Read })
    }
}

impl Plan {
    /// Checks what an application passes.
    fn check_call(&self, gpu: &Gpu, operands: &[View<'_>], scalars: &[Scalar]) -> Result<()> {
        let counts = |operands: usize, scalars: usize| format!("{operands} operands and {scalars} scalars");
        let needed = counts(self.parameters().len(), self.scalars().len());
        let found = counts(operands.len(), scalars.len());
        if found != needed {
            return Err(Error::input(self.op(), format!("the plan takes {needed}, not {found}")));
        }
        self.check_scalars(scalars)?;
        for (at, (parameter, view)) in self.parameters().iter().zip(operands).enumerate() {
            check_same_gpu(self.op(), gpu, view.gpu())?;
            if view.dtype != parameter.dtype {
                let why = format!("the plan is for {}, not {}", parameter.dtype, view.dtype);
                return Err(Error::input(format!("{}: {}", self.op(), parameter.name), why));
            }
            if parameter.access != Access::Read && !view.is_exclusive() {
                let why = "the plan writes it: pass a `view_mut`";
                return Err(Error::input(format!("{}: {}", self.op(), parameter.name), why));
            }
            let is_same = |&(other, operand): &(usize, &View<'_>)| other != at && operand.shares_buffer(view);
            if let Some((other, _)) =
                operands.iter().enumerate().find(is_same).filter(|_| parameter.access != Access::Read)
            {
                let why =
                    format!("the plan writes it, so it cannot be {} as well", self.parameters()[other].name);
                return Err(Error::input(format!("{}: {}", self.op(), parameter.name), why));
            }
        }
        self.check_layouts(self.parameters(), operands)
    }

    /// Checks that scalars are of the types that kernels read.
    fn check_scalars(&self, scalars: &[Scalar]) -> Result<()> {
        for (parameter, scalar) in self.scalars().iter().zip(scalars) {
            if parameter.kind != scalar.kind() {
                let why = format!("the plan takes {}, not {}", parameter.kind, scalar.kind());
                return Err(Error::input(format!("{}: {}", self.op(), parameter.name), why));
            }
        }
        Ok(())
    }

    /// Checks that operands lie where the plan has these parameters.
    fn check_layouts<'a>(
        &self,
        parameters: impl IntoIterator<Item = &'a Parameter>,
        operands: &[View<'_>],
    ) -> Result<()> {
        for (parameter, view) in parameters.into_iter().zip(operands) {
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
        for (at, step) in self.steps().iter().enumerate() {
            let lacks =
                |needs: String| Error::Unsupported { op: self.op(), needs, device: caps.adapter.clone() };
            step.needs.fit(caps).map_err(lacks)?;
            // Pieces of one step have one kernel.
            if at == 0 || self.steps()[at - 1].kernel != step.kernel {
                step.kernel.fits(caps, step.dims.len()).map_err(lacks)?;
            }
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

/// Compiles a kernel and discards it: whether the driver accepts its shader.
///
/// # Errors
/// [`Error::Input`] if there is no such shader or it lacks a parameter or slot; [`Error::Device`] if the driver refuses it.
pub fn compile(gpu: &Gpu, kernel: &Kernel) -> Result<()> {
    gpu.inner.fault.check()?;
    gpu.inner.pipelines.get(&gpu.inner.device, kernel).map(|_| ())
}
