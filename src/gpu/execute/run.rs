//! Executes plans and problems.

use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::kernels::lifetimes::Outputs;
use crate::gpu::kernels::prepared::Prepared;
use crate::gpu::launch::launch_plan::OperandBuffer;
use crate::gpu::record::scope::{Scope, Sink};
use crate::gpu::views::view::View;
use crate::kernel::Kernel;
use crate::plan::{Access, AnyProblem, Plan, Scalar};
use crate::{Error, Result};

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
        // Earlier failures to write the outputs of this plan no longer matter.
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
    pub(crate) fn run(&self, problem: &AnyProblem, operands: &[View<'_>], scalars: &[Scalar]) -> Result<()> {
        self.run_as_prepared(&*self.prepared(problem, Outputs::Supplied)?, operands, scalars)
    }

    fn run_as_prepared(&self, prepared: &Prepared, operands: &[View<'_>], scalars: &[Scalar]) -> Result<()> {
        self.note_operands(operands.iter());
        self.run_prepared(prepared, operands, scalars)?;
        self.inner.captures.add(std::slice::from_ref(&prepared.plan));
        Ok(())
    }

    /// Executes the plan of a problem with these inputs: all operands that it does not only write. Returns its outputs,
    /// in new buffers.
    pub(crate) fn compute<const N: usize>(
        &self,
        problem: &AnyProblem,
        inputs: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<[Allocation; N]> {
        let results = self.compute_all(problem, inputs, scalars)?;
        Ok(results
            .try_into()
            .unwrap_or_else(|results: Vec<_>| unreachable!("{} results, not {N}", results.len())))
    }

    /// Launches `problem` and returns all its results, in new buffers.
    pub(crate) fn compute_all(
        &self,
        problem: &AnyProblem,
        inputs: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<Vec<Allocation>> {
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
        let results = operands.into_iter().filter_map(|operand| match operand {
            OperandBuffer::Supplied(_) => None,
            OperandBuffer::New(allocation) => allocation,
        });
        Ok(results.collect())
    }

    /// As [`compute`](Self::compute), for a plan with one output, which is written to `c`: a view without gaps that begins where a
    /// binding may.
    pub(crate) fn compute_to(
        &self,
        problem: &AnyProblem,
        c: View<'_>,
        inputs: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        let prepared = self.prepared(problem, Outputs::Supplied)?;
        let mut operands = inputs.to_vec();
        let parameters = prepared.plan.parameters();
        if let Some(at) = parameters.iter().position(|to| to.access == Access::Write) {
            let dense = &parameters[at].layout;
            operands.insert(at, c.with_layout(dense.at(dense.strides(), c.layout.offset())));
        }
        self.run_as_prepared(&prepared, &operands, scalars)
    }

    /// Notes, in the closure of a `capture`, the tensors that an operation uses.
    fn note_operands<'a>(&self, operands: impl Iterator<Item = &'a View<'a>>) {
        let mut state = self.inner.recorder.lock();
        if let Some(Scope { sink: Sink::Capture(captured), .. }) = state.scope() {
            captured.operands.extend(operands.map(View::as_input));
        }
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
