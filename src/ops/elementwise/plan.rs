//! The plan of an elementwise function: one step, or one for each window.

use super::kernel::LANES;
use super::kind::Kind;
use super::operation::Elementwise;
use super::problem::{ElementwiseDims, ElementwiseDimsOfFour, ElementwiseProblem};
use super::written::NUMBERS;
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout, dim};
use crate::plan::{
    Access, CutAxes, CutOperand, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Plan, Problem,
    ScalarParameter, Time, plan_in_windows,
};
use std::mem::offset_of;
use std::ops::Range;

/// The names of the operands in plans and errors.
const NAMES: [&str; 4] = ["a", "b", "operand 2", "operand 3"];

impl Problem for ElementwiseProblem {
    /// One step, or one for each window. The kernel depends on the function, the types and the memory layout.
    ///
    /// Operands: C, then those of the function. Scalars: its numbers.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, Joins::NONE)
    }
}

impl InWindows for ElementwiseProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let layouts = self.layouts()?;
        let extents = layouts[0].shape().to_vec();
        let all: Vec<Option<usize>> = (0..extents.len()).map(Some).collect();
        let dtypes = [self.dtype].into_iter().chain(self.dtypes());
        let operands = layouts.into_iter().zip(dtypes);
        let operands =
            operands.map(|(layout, dtype)| CutOperand::new(Form::View, layout, dtype, all.clone()));
        Ok(CutAxes { extents, joined: 0, operands: operands.collect(), whole: None })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let operands: Vec<(&Layout, DType)> = layouts[1..].iter().zip(self.dtypes()).collect();
        Self::new(self.function.clone(), &operands, (&layouts[0], self.dtype))
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let dtypes = self.dtypes();
        let written = self.function.written(&dtypes, self.dtype)?;
        // An expression passes the bits of its numbers.
        let number = match (&self.function, self.function.number_kind(&dtypes, self.dtype)) {
            (Elementwise::Map(_), _) | (_, Kind::Integer | Kind::Mask) => ScalarParameter::u32("number"),
            (_, Kind::Real) => ScalarParameter::f32("number"),
        };
        let mut draft = Draft::new(op, &vec![number; written.numbers], caps);
        let access = if self.is_update() { Access::Update } else { Access::Write };
        let layouts = self.layouts()?;
        let mut args = vec![(draft.operand("the output", self.dtype, layouts[0], access), access)];
        for ((name, &dtype), &layout) in NAMES.into_iter().zip(&dtypes).zip(&layouts[1..]) {
            args.push((draft.operand(name, dtype, layout, Access::Read), Access::Read));
        }
        let [_, units] = self.units()?;
        let elements = layouts[0].len() as f64;
        draft.step(NewStep {
            kernel: self.kernel(&written, caps),
            tile: format!(
                "{LANES} invocations, {} elements each, {}",
                self.elements_per_invocation(),
                self.dtype
            ),
            needs: Needs { bindings: dim(op, args.len())?, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(units.div_ceil(LANES * self.units_per_invocation())),
            dims: self.uniform(written.numbers, self.is_of_two(&written))?,
            args: &args,
            flops: Flops::of_f32(elements * written.flops as f64),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

impl ElementwiseProblem {
    /// The uniform, with places for the call's numbers.
    fn uniform(&self, numbers: usize, is_of_two: bool) -> Result<Dims> {
        let dims = self.dims()?;
        let (first, more) =
            (offset_of!(ElementwiseDims, numbers), offset_of!(ElementwiseDimsOfFour, more_numbers));
        let places = [first, first + 4].into_iter().chain((0..NUMBERS.len() - 2).map(|at| more + 4 * at));
        let uniform = if is_of_two { Dims::of(&dims.of_two()) } else { Dims::of(&dims) };
        Ok(places.take(numbers).enumerate().fold(uniform, |uniform, (at, place)| uniform.scalar(place, at)))
    }
}
