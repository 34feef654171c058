//! Launches the kernels of prepared plans. This is the only code that does so.

#[cfg(not(target_arch = "wasm32"))]
use super::long_plan::LongPlan;
use crate::Result;
use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};
use crate::gpu::buffers::content_state::reports;
use crate::gpu::buffers::storage::{Storage, StorageAccess};
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::kernels::lifetimes::Outputs;
use crate::gpu::kernels::prepared::Prepared;
use crate::gpu::record::new_launch::NewLaunch;
use crate::gpu::record::scope::OwnScope;
use crate::gpu::views::binding::Binding;
use crate::gpu::views::view::View;
use crate::plan::{Access, Arg, Buffer, Parameter, Plan, Scalar};
use std::sync::Arc;

/// An operand of a call.
pub(in crate::gpu) enum OperandBuffer<'a> {
    Supplied(Binding<'a>),
    /// An output of the plan, allocated for the first step that binds it.
    New(Option<Allocation>),
}

impl Gpu {
    /// Executes a prepared plan with these operands. It is not listed by `plans_of`.
    pub(in crate::gpu) fn run_prepared(
        &self,
        prepared: &Prepared,
        operands: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
        prepared.check_own(prepared.plan.parameters(), operands, scalars);
        let mut operands: Vec<_> = operands.iter().map(|view| OperandBuffer::Supplied(view.bind())).collect();
        self.launch_all(prepared, Outputs::Supplied, &mut operands, scalars)
    }

    /// Records all steps, after checking that all inputs are valid and the memory suffices. Afterwards every
    /// [`OperandBuffer::New`] has its buffer.
    pub(in crate::gpu) fn launch_all(
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
    pub(in crate::gpu) fn check_own<'a>(
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
