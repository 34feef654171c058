//! Checks of plans and of the calls that execute them.

use crate::caps::Caps;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::handle::same_gpu::check_same_gpu;
use crate::gpu::views::view::View;
use crate::plan::{Access, Parameter, Plan, Scalar};
use crate::{Error, Result};

impl Plan {
    /// Checks an application's call.
    pub(in crate::gpu) fn check_call(
        &self,
        gpu: &Gpu,
        operands: &[View<'_>],
        scalars: &[Scalar],
    ) -> Result<()> {
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

    /// Checks that scalars have the types that the kernels read.
    pub(in crate::gpu) fn check_scalars(&self, scalars: &[Scalar]) -> Result<()> {
        for (parameter, scalar) in self.scalars().iter().zip(scalars) {
            if parameter.kind != scalar.kind() {
                let why = format!("the plan takes {}, not {}", parameter.kind, scalar.kind());
                return Err(Error::input(format!("{}: {}", self.op(), parameter.name), why));
            }
        }
        Ok(())
    }

    /// Checks that the operands' layouts match these parameters.
    pub(in crate::gpu) fn check_layouts<'a>(
        &self,
        parameters: impl IntoIterator<Item = &'a Parameter>,
        operands: &[View<'_>],
    ) -> Result<()> {
        for (parameter, view) in parameters.into_iter().zip(operands) {
            if !parameter.layout.accepts(&view.layout, view.dtype) {
                let Parameter { name, layout, .. } = parameter;
                let (strides, offset) = (layout.strides(), layout.offset());
                let rule = format!(
                    "{name} must have the plan's layout: strides {strides:?}, {offset} elements after the start of its window"
                );
                return Err(Error::shapes(self.op(), rule, view.layout.shape(), layout.shape()));
            }
        }
        Ok(())
    }

    /// Checks that a device can run the plan, since the plan may have been made for another device.
    pub(in crate::gpu) fn check_on(&self, caps: &Caps) -> Result<()> {
        for (at, step) in self.steps().iter().enumerate() {
            let lacks = |needs: String| caps.unsupported(self.op(), needs);
            step.needs.fit(caps).map_err(lacks)?;
            // The pieces of one step have the same kernel.
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
