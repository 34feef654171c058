//! The plan of an elementwise function: one step, or one for each window.

use super::kernel::LANES;
use super::kind::Kind;
use super::operation::Elementwise;
use super::problem::{ElementwiseDims, ElementwiseDimsOfFour, ElementwiseProblem};
use super::written::NUMBERS;
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, CutAxes, Dims, Draft, Flops, InWindows, NewStep, Operand, Plan, ScalarParameter};
use std::mem::offset_of;
use std::ops::Range;

/// The names of the operands in plans and errors.
const NAMES: [&str; 4] = ["a", "b", "operand 2", "operand 3"];

impl InWindows for ElementwiseProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(self.c.shape(), self.operands()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let operands: Vec<(&Layout, DType)> = layouts[1..].iter().zip(self.dtypes()).collect();
        Self::new(self.function.clone(), &operands, (&layouts[0], self.dtype))
    }

    /// One step, or one for each window. The kernel depends on the function, the types and the memory layout.
    ///
    /// Operands: C, then those of the function. Scalars: its numbers.
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
        let args = draft.operands(&self.operands());
        let [_, units] = self.units()?;
        draft.step(NewStep {
            tile: format!(
                "{LANES} invocations, {} elements each, {}",
                self.elements_per_invocation(),
                self.dtype
            ),
            blocks: u64::from(units.div_ceil(LANES * self.units_per_invocation())),
            dims: self.uniform(written.numbers, self.is_of_two(&written))?,
            flops: Flops::of_f32(self.c.len() as f64 * written.flops as f64),
            ..NewStep::of(self.kernel(&written, caps), Needs::of(LANES, 0), &args)
        })?;
        Ok(draft.finish())
    }
}

impl ElementwiseProblem {
    /// C and the operands.
    fn operands(&self) -> Vec<Operand> {
        let access = if self.is_update() { Access::Update } else { Access::Write };
        let c = Operand::read("the output", self.dtype, self.c).accessed(access);
        let read = NAMES.into_iter().zip(&self.operands);
        [c].into_iter().chain(read.map(|(name, &(x, dtype))| Operand::read(name, dtype, x))).collect()
    }

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
