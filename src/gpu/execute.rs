//! Executes plans. This is the only code that launches kernels.

use super::binding::Binding;
use super::bound_window::{BoundWindow, WindowUse};
use super::content_state::reports;
use super::handle::Gpu;
use super::lifetimes::Outputs;
use super::memory::Allocation;
use super::new_launch::NewLaunch;
use super::prepared::Prepared;
#[cfg(not(target_arch = "wasm32"))]
use super::reported::LongPlan;
use super::scope::OwnScope;
use super::storage::{Access as StorageAccess, Storage};
use super::view::View;
use crate::kernel::Kernel;
use crate::plan::{Access, Arg, Buffer, Parameter, Plan, Problem, Scalar};
use crate::{Error, Result};
use std::sync::Arc;

/// An operand of a call.
enum OperandBuffer<'a> {
    Supplied(Binding<'a>),
    /// An output of the plan, allocated for the first step that binds it.
    New(Option<Allocation>),
}

impl Gpu {
    /// Executes a plan: records its steps, which run in order, after everything that was recorded before.
    ///
    /// `operands` are views of tensors of this device, in the order of [`Plan::parameters`]: a [`Tensor::view_mut`] for
    /// each operand that the plan writes, a [`Tensor::view`] for the others. `scalars` are the numbers that
    /// [`Plan::scalars`] names.
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
    ///     ElementwiseProblem::of_one_type(Elementwise::ADD, &[a.layout(), a.layout()], c.layout(), tilewise::DType::F32)?;
    /// let plan = problem.plan(gpu.caps())?;
    /// gpu.execute(&plan, &[c.view_mut()?, a.view(), a.view()], &[])?;
    /// assert_eq!(c.to_vec()?, [2.0, 4.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`] if the number of operands or scalars differs from the plan's, an operand or scalar has another
    /// type, an operand that the plan writes is not a [`Tensor::view_mut`], or an output shares its buffer with another
    /// operand; [`Error::Shape`] if an operand's shape or strides differ from the plan's; [`Error::Gpu`] if an operand
    /// is on another device; [`Error::Unsupported`] if this device lacks a feature that the plan needs;
    /// [`Error::OutOfMemory`] if there is no memory for the plan's temporaries; [`Error::Device`] if an operand that
    /// the plan reads was never computed, because a launch failed, or if the device is lost. In these cases nothing is
    /// recorded.
    ///
    /// There is one exception: another thread, or the driver, can take the memory for the temporaries while the steps
    /// are being recorded. The outputs then have no result, and reading them is an error.
    pub fn execute(&self, plan: &Plan, operands: &[View<'_>], scalars: &[Scalar]) -> Result<()> {
        self.inner.status.check()?;
        plan.check_call(self, operands, scalars)?;
        let prepared = self.prepared_plan(plan)?;
        let operands: Vec<(Access, View<'_>)> =
            plan.parameters().iter().map(|to| to.access).zip(operands.iter().copied()).collect();
        // Failures of earlier writes of what this plan writes no longer matter.
        let bound = operands.iter().map(|&(access, view)| match access {
            Access::Write => OperandBuffer::Supplied(view.overwritten().bind()),
            Access::Read | Access::Update => OperandBuffer::Supplied(view.bind()),
        });
        let mut bound: Vec<OperandBuffer<'_>> = bound.collect();
        self.note_operands(operands.iter().map(|(_, view)| view));
        let begun = self.inner.recorder.lock().next_sequence();
        self.launch_all(&prepared, Outputs::Supplied, &mut bound, scalars).inspect_err(|error| {
            // The outputs are invalid: some steps have written to them and others have not.
            for (_, view) in operands.iter().filter(|(access, _)| *access != Access::Read) {
                view.fail_if_written_since(begun, error);
            }
        })?;
        self.inner.captures.add(std::slice::from_ref(plan));
        Ok(())
    }

    /// Executes the plan of a problem with these operands. The outputs among them may have contents. A problem's plan
    /// is prepared once and then looked up. If this fails between two steps, the caller must mark the outputs as
    /// failed.
    pub(crate) fn run<P: Problem>(
        &self,
        problem: &P,
        operands: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        let prepared = self.prepared(problem, Outputs::Supplied)?;
        self.note_operands(operands.iter());
        self.run_prepared(&prepared, operands, scalars)?;
        self.inner.captures.add(std::slice::from_ref(&prepared.plan));
        Ok(())
    }

    /// Executes a prepared plan with these operands. It is not listed by `plans_of`.
    pub(super) fn run_prepared(
        &self,
        prepared: &Prepared,
        operands: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        prepared.check_own(prepared.plan.parameters(), operands, scalars);
        let mut operands: Vec<_> = operands.iter().map(|view| OperandBuffer::Supplied(view.bind())).collect();
        self.launch_all(prepared, Outputs::Supplied, &mut operands, scalars)
    }

    /// Executes the plan of a problem with these inputs: all operands that it does not only write. Returns its outputs,
    /// in new buffers.
    pub(crate) fn compute<P: Problem, const N: usize>(
        &self,
        problem: &P,
        inputs: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<[Allocation; N]> {
        let prepared = self.prepared(problem, Outputs::New)?;
        let parameters = prepared.plan.parameters();
        prepared.check_own(parameters.iter().filter(|to| to.access != Access::Write), inputs, scalars);
        self.note_operands(inputs.iter());
        let mut inputs = inputs.iter();
        let mut operands = Vec::with_capacity(parameters.len());
        for to in parameters {
            operands.push(match to.access {
                Access::Write => OperandBuffer::New(None),
                Access::Read | Access::Update => {
                    let missing = || Error::device(format!("{}: an operand is missing", prepared.plan.op()));
                    OperandBuffer::Supplied(inputs.next().ok_or_else(missing)?.bind())
                }
            });
        }
        self.launch_all(&prepared, Outputs::New, &mut operands, scalars)?;
        self.inner.captures.add(std::slice::from_ref(&prepared.plan));
        let allocation = operands.into_iter().filter_map(|operand| match operand {
            OperandBuffer::Supplied(_) => None,
            OperandBuffer::New(allocation) => allocation,
        });
        let allocation: Vec<Allocation> = allocation.collect();
        Ok(allocation
            .try_into()
            .unwrap_or_else(|allocation: Vec<_>| unreachable!("{} results, not {N}", allocation.len())))
    }

    /// Records all steps, after checking that all inputs are valid and the memory suffices. Afterwards every
    /// [`OperandBuffer::New`] has its buffer.
    fn launch_all(
        &self,
        prepared: &Prepared,
        outputs: Outputs,
        operands: &mut [OperandBuffer<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        let Prepared { plan, pipelines, lifetimes } = prepared;
        let reports = reports();
        for (operand, to) in operands.iter().zip(plan.parameters()) {
            if let OperandBuffer::Supplied(binding) = operand {
                let access =
                    if to.access == Access::Read { StorageAccess::Reads } else { StorageAccess::Writes };
                let storage = binding.storage();
                let is_word = storage.cursor.get().is_some();
                if is_word {
                    self.bring_word(plan.op(), storage)?;
                }
                if is_word && access == StorageAccess::Writes {
                    self.check_no_word(plan.op(), storage)?;
                }
                self.check_taken(plan.op(), (&**storage, access), OwnScope::IsOrdered)?;
                if !(is_word && self.is_capturing()) {
                    binding.check()?;
                }
            }
        }
        let constants = plan.constants().iter().map(|constant| self.constant(plan.op(), constant));
        let constants = constants.collect::<Result<Vec<_>>>()?;
        constants.iter().for_each(|constant| constant.storage().taken.forget_finished());
        self.check_memory(plan.op(), lifetimes.memory(outputs))?;
        #[cfg(not(target_arch = "wasm32"))]
        let mut long = LongPlan::begin(self, plan)?;
        let mut temporaries: Vec<Option<Allocation>> = plan.temporaries().iter().map(|_| None).collect();
        for (at, (step, pipeline)) in plan.steps().iter().zip(pipelines).enumerate() {
            let pipeline = match pipeline.upgrade() {
                Some(pipeline) => pipeline,
                // Another thread, or a later step of this very plan, needed its place.
                None => self.pipeline(plan.op(), &step.kernel)?,
            };
            let mut bound = Vec::with_capacity(step.args.len());
            for (arg, &writes) in step.args.iter().zip(&pipeline.writes) {
                bound.push(match arg.buffer {
                    Buffer::Operand(index) => match &mut operands[index] {
                        OperandBuffer::Supplied(binding) => binding.part(&arg.window).bound(writes),
                        OperandBuffer::New(allocation) => arg.bind(
                            self.allocated(plan, allocation, plan.parameters()[index].new_bytes())?,
                            writes,
                        ),
                    },
                    Buffer::Temporary(index) => {
                        let bytes = plan.temporaries()[index];
                        arg.bind(self.allocated(plan, &mut temporaries[index], bytes)?, writes)
                    }
                    Buffer::Constant(index) => arg.bind(constants[index].storage(), false),
                });
            }
            self.record(NewLaunch {
                plan,
                step: at,
                pipeline,
                bound,
                dims: &step.dims,
                scalars: &step.scalars,
                values: scalars,
                grid: step.grid,
                reports,
                seconds: step.seconds,
            })?;
            for arg in &step.args {
                if let Buffer::Temporary(index) = arg.buffer
                    && lifetimes.ends_after(index, at)
                {
                    temporaries[index] = None;
                }
            }
            #[cfg(not(target_arch = "wasm32"))]
            if let Some(long) = &mut long {
                long.recorded(at + 1, step.seconds)?;
            }
        }
        #[cfg(not(target_arch = "wasm32"))]
        long.map_or(Ok(()), LongPlan::end)?;
        // An output that no step binds gets a buffer too.
        for (operand, to) in operands.iter_mut().zip(plan.parameters()) {
            if let OperandBuffer::New(allocation) = operand {
                self.allocated(plan, allocation, to.new_bytes())?;
            }
        }
        Ok(())
    }

    /// The buffer in this place, allocated if the place is empty.
    fn allocated<'a>(
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
    /// Checks, in builds with debug assertions, that this crate's own call matches the plan's parameters.
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
    /// The window of a temporary, a constant or a new output: a buffer that only this plan writes.
    fn bind(&self, storage: &Arc<Storage>, writes: bool) -> BoundWindow {
        BoundWindow::new(
            storage.clone(),
            self.window.clone(),
            if writes { WindowUse::Write } else { WindowUse::Read },
        )
    }
}

/// Compiles a kernel and discards it, to check whether the driver accepts its shader.
///
/// # Errors
/// [`Error::Input`] if the shader does not exist or lacks a parameter or slot; [`Error::Device`] if the driver refuses
/// it.
pub fn compile(gpu: &Gpu, kernel: &Kernel) -> Result<()> {
    gpu.inner.status.check()?;
    gpu.inner.pipelines.get(&gpu.inner.device, kernel).map(|_| ())
}
