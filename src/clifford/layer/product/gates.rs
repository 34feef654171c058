//! The product of both operands' gates, at every row and feature: the problem, its plan of one step, and the kernel, whose
//! invocations compute four features of a row each.
//!
//! A fully connected product computes it in a step before its matrix product, because all blades share it.

use crate::caps::Caps;
use crate::clifford::layer::gate::Gate;
use crate::kernel::{AccessWidth, Kernel, Needs, OperandAccess, StorageFormat, shader_dims};
use crate::layout::{DType, Layout, known};
use crate::plan::{Dims, Draft, Flops, NewStep, Operand, Plan, Problem};
use crate::{Error, Result};

const OP: &str = "gates";

/// Invocations of one workgroup.
const LANES: u32 = 64;

shader_dims! {
    /// The uniform of `shaders/clifford/gates.wgsl`, in elements.
    pub struct GatesDims {
        rows: u32,
        features: u32,
        /// groups of four features per row
        units: u32,
        /// first scalar part in its binding
        x_offset: u32,
        /// strides of X, in elements
        x_row: u32,
        x_feature: u32,
        y_offset: u32,
        y_row: u32,
        y_feature: u32,
        reserved0: u32,
        reserved1: u32,
        reserved2: u32,
    }
}

/// The product of two operands' gates at every position, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatesProblem {
    /// The gate.
    gate: Gate,
    /// The element type of the operands.
    dtype: DType,
    /// The operands' scalar parts (row, feature), relative to their windows.
    scalars: [Layout; 2],
}

impl GatesProblem {
    /// The gates of two operands, from their scalar parts (1, row, feature), which have the same shape.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If an operand has fewer than three axes.
    pub fn new(gate: Gate, scalars: [&Layout; 2], dtype: DType) -> Result<Self> {
        let scalars = scalars.map(|of| of.without_axis(0).in_window(dtype));
        scalars.iter().try_for_each(|of| of.check_dims(OP))?;
        Ok(Self { gate, dtype, scalars })
    }

    fn dims(&self) -> GatesDims {
        let [x, y] = &self.scalars;
        let [rows, features] = [0, 1].map(|axis| known(x.shape()[axis]));
        GatesDims {
            rows,
            features,
            units: features.div_ceil(4),
            x_offset: x.offset_in_window(self.dtype),
            x_row: known(x.step(0)),
            x_feature: known(x.step(1)),
            y_offset: y.offset_in_window(self.dtype),
            y_row: known(y.step(0)),
            y_feature: known(y.step(1)),
            ..GatesDims::default()
        }
    }

    /// The kernel. It moves four features together if they are neighbours in every operand and begin at multiples of
    /// four.
    fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let kernel = Kernel::new("clifford/gates")
            .dims::<GatesDims>(caps)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate.variant());
        let d = self.dims();
        let starts = [d.features, d.x_offset, d.x_row, d.y_offset, d.y_row];
        if [d.x_feature, d.y_feature] == [1; 2] && starts.iter().all(|start| start.is_multiple_of(4)) {
            let operand = OperandAccess::read(format, AccessWidth::Four);
            let kernel = kernel.slot("scalars_x", "quads").slot("scalars_y", "quads");
            let kernel = kernel.quads("x", operand).quads("y", operand);
            let result = OperandAccess::write(StorageFormat::F32, AccessWidth::Four);
            return kernel.slot("store_consecutive", "four_whole").result(result);
        }
        let operand = OperandAccess::read(format, AccessWidth::One);
        kernel.operand("x", operand).operand("y", operand)
    }
}

impl Problem for GatesProblem {
    /// One step. Operands: the gates (row, feature) in f32, then the scalars of x and of y (row, feature).
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let Self { gate, dtype, scalars: [x, y] } = self;
        if x.is_empty() {
            let rule = "there must be at least one row and one feature";
            return Err(Error::shape(OP, rule, x.shape()));
        }
        let mut draft = Draft::new(OP, &[], caps);
        let args = draft.operands(&[
            Operand::written("the gates", DType::F32, x.dense()),
            Operand::read("the scalars of x", *dtype, *x),
            Operand::read("the scalars of y", *dtype, *y),
        ]);
        let dims = self.dims();
        let [gate_flops, _] = gate.flops();
        draft.step(NewStep {
            tile: format!("{LANES} invocations of 4, {gate} of both operands, {dtype}"),
            blocks: (u64::from(dims.rows) * u64::from(dims.units)).div_ceil(u64::from(LANES)),
            dims: Dims::of(&dims),
            flops: Flops::of_f32((2 * gate_flops + 1) as f64 * x.len() as f64),
            ..NewStep::of(self.kernel(caps), Needs::of(LANES, 0), &args)
        })?;
        Ok(draft.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use crate::kernel::wgsl::{Expression, naga_flops};

    #[test]
    fn gate_functions_have_the_flops_of_the_shader() -> Result<()> {
        let scalars = Layout::contiguous("test", &[1, 5, 8])?;
        for gate in Gate::ALL {
            let problem = GatesProblem::new(gate, [&scalars, &scalars], DType::F32)?;
            let text = problem.plan(&fixtures::h200())?.steps()[0].kernel.specialize()?;
            for callee in [gate.function_of(1), gate.slope_of(1)] {
                let call = callee.call::<Expression>([]);
                let name = call.to_string().replace("()", "");
                assert_eq!(call.flops(), naga_flops(&text, &name), "{name}");
            }
        }
        Ok(())
    }
}
