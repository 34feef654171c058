//! The plan of a reduction: one step, or two if there are too few results to occupy a device. An operand that is larger than a
//! binding is reduced in windows.

use super::kernel::Stage;
use super::problem::ReduceProblem;
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::ops::copy::copy_part;
use crate::plan::{CutAxes, Draft, InWindows, Joins, Plan};
use std::ops::Range;

impl InWindows for ReduceProblem {
    const JOINS: Joins = Joins { copy: Some(copy_part), ..Joins::NONE };

    fn cut_axes(&self) -> Result<CutAxes> {
        self.axes_of_windows()
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        self.of_part(&layouts[0])
    }

    /// One step, if there are enough results to occupy the device or few elements; otherwise a step for parts of the terms, and
    /// one that joins them. With windows, each window has these steps; or there is a step for the terms of each window, and one
    /// that joins them.
    ///
    /// Operands: A, the result.
    /// One step, if there are enough results to occupy the device or few elements; otherwise a step for parts of the terms, and
    /// one that joins them. With windows, each window has these steps; or there is a step for the terms of each window, and one
    /// that joins them.
    ///
    /// Operands: A, the result.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let dims = self.dims_on(caps);
        let mut draft = Draft::new(op, &[], caps);
        let [a, c] = self.operands()?.map(|of| draft.region(&of));
        if a.bound_bytes() > caps.limits.binding_bytes {
            self.join_windows(&mut draft, [a, c])?;
            return Ok(draft.finish());
        }
        if dims.parts == 1 {
            self.first(&mut draft, Stage::Whole, &dims, [a, c])?;
            return Ok(draft.finish());
        }
        let words = self.function.combination(self.dtype).words as usize;
        let parts = draft.temporary(&[self.results, dims.parts as usize, words], DType::I32)?;
        draft.reason(format!(
            "{} results would not occupy the device: their terms are cut in parts",
            self.results
        ));
        self.first(&mut draft, Stage::Parts, &dims, [a, parts])?;
        self.join(&mut draft, dims, [parts, c])?;
        Ok(draft.finish())
    }
}
