//! Problems that can be computed in windows: a plan has several parts if one part exceeds the device's bindings. The operands of
//! a part are windows of the operation's operands.

use super::draft::{Draft, Region};
use super::executable::Plan;
use super::joins::{Joins, missing};
use super::operands::Operand;
use super::parts::{Parts, plan_in_parts};
use super::problem::Problem;
use super::trial::Trial;
use super::windows::CutAxes;
use crate::caps::Caps;
use crate::layout::Layout;
use crate::{Error, Result};
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

/// A problem that can be computed in windows. Its plan is that of one part, or of several if one part exceeds the device's
/// bindings.
pub(crate) trait InWindows: Clone + Debug + Eq + Hash + Send + 'static {
    /// The steps that join windows, unless the kernels take any view.
    const JOINS: Joins = Joins::NONE;

    /// The axes along which it can be cut, and its operands in the order of the plan's parameters.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    fn cut_axes(&self) -> Result<CutAxes>;

    /// The operation on these ranges of the axes. `layouts` are its operands, narrowed to them.
    ///
    /// # Errors
    /// As the problem's constructor.
    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self>;

    /// The plan, if every operand fits into a binding.
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan>;

    /// Adds the steps before the parts. Returns further operands of each part.
    ///
    /// # Errors
    /// [`Error::Limit`] if a temporary is too large.
    fn before_parts(&self, _: &mut Draft<'_>, _: &[Region]) -> Result<Vec<Region>> {
        Ok(Vec::new())
    }

    /// Copies the arrays of a part to their places in an operand of the form [`Form::Own`].
    ///
    /// # Errors
    /// Those of the copies; by default [`Error::Device`], because there are no such operands.
    fn put(&self, _: &mut Draft<'_>, _: &Joins, _: &Self, _: [Region; 2], _: &[Range<usize>]) -> Result<()> {
        missing()
    }

    /// The reasons for the plan of one part, for [`Problem::explain`].
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn reasons(&self, _: &Caps) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The plans for [`Problem::candidates`].
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn alternatives(&self, caps: &Caps) -> Result<Vec<Plan>> {
        self.plan(caps).map(|plan| vec![plan])
    }

    /// The reference for [`Problem::trial`].
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn reference(&self, _: &Caps) -> Result<Option<Trial>> {
        Ok(None)
    }

    /// The layout of an operand, narrowed to these ranges of the axes.
    ///
    /// # Errors
    /// [`Error::Shape`] if the operand has no such axis, which is a bug of this crate.
    fn narrowed(&self, operand: &Operand, ranges: &[Range<usize>]) -> Result<Layout> {
        operand.narrowed(ranges)
    }
}

impl<P: InWindows> Problem for P {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        match self.plan_of_one(caps) {
            Err(error) => match error {
                Error::Limit { op, .. } => {
                    let axes = self.cut_axes()?;
                    // What is empty and too large for another reason has no windows.
                    if axes.extents.contains(&0) {
                        return Err(error);
                    }
                    let parts = Parts {
                        joins: P::JOINS,
                        axes,
                        narrowed: &|operand, ranges| self.narrowed(operand, ranges),
                        before_parts: &|draft, operands| self.before_parts(draft, operands),
                        plan_of_part: &|layouts, ranges| self.part(layouts, ranges)?.plan_of_one(caps),
                        put_part: &|draft, layouts, arrays, ranges| {
                            self.put(draft, &P::JOINS, &self.part(layouts, ranges)?, arrays, ranges)
                        },
                    };
                    plan_in_parts(parts, caps, (op, error))
                }
                _ => Err(error),
            },
            planned => planned,
        }
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        match self.plan_of_one(caps) {
            Ok(plan) => Ok(plan.because(self.reasons(caps)?)),
            Err(_) => self.plan(caps),
        }
    }

    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        self.alternatives(caps)
    }

    fn trial(&self, caps: &Caps) -> Result<Option<Trial>> {
        self.reference(caps)
    }
}
