//! The plan of a copy: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{CopyProblem, Longer, Sliced};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, CutAxes, Dims, Draft, InWindows, NewStep, Operand, Plan};
use std::ops::Range;

impl InWindows for CopyProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let operands = self.operands();
        match self.sliced {
            None => Ok(CutAxes::of(self.c.shape(), operands)),
            Some(Sliced { axis, .. }) => Ok(CutAxes::except(axis, self.c.shape(), operands)),
        }
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        match (self.sliced, layouts) {
            (Some(sliced), [c, a, at]) => {
                Self::at_position(sliced.longer, [a, c], sliced.axis, at, self.dtype)
            }
            _ => Self::new(&layouts[1], &layouts[0], self.dtype),
        }
    }

    /// One step, or one for each window. The kernel depends on whether rows are whole words, and whether it reads a position
    /// from a tensor.
    ///
    /// Operands: C, A; with a position, the tensor of the position.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op(), &[], caps);
        let mut args = draft.operands(&self.operands());
        if let Some(Sliced { longer, .. }) = self.sliced {
            // The kernel touches one slice of the longer operand, and binds all of it.
            let [c, a] = self.touched()?;
            match longer {
                Longer::C => args[0] = (args[0].0.touched_like(c), Access::Write),
                Longer::A => args[1].0 = args[1].0.touched_like(a),
            }
        }
        let dims = self.dims()?;
        draft.step(NewStep {
            tile: self.tile(),
            blocks: u64::from(dims.units.div_ceil(LANES)),
            dims: Dims::of(&dims),
            ..NewStep::of(self.kernel(caps), Needs::of(LANES, 0), &args)
        })?;
        Ok(draft.finish())
    }
}

impl CopyProblem {
    /// C, A and, with a slice, the position.
    fn operands(&self) -> Vec<Operand> {
        let is_part = self.sliced.is_some_and(|sliced| sliced.longer == Longer::C);
        let access = if is_part { Access::Update } else { Access::Write };
        let mut operands = vec![
            Operand::read("the output", self.dtype, self.c).accessed(access),
            Operand::read("a", self.dtype, self.a),
        ];
        let position = self.sliced.map(|sliced| Operand::read("the position", DType::I32, sliced.at).whole());
        operands.extend(position);
        operands
    }
}
