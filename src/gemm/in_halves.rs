//! Products of f32 operands by products of f16: `Precision::Fast` and `Precision::Split`.

use super::halves::{HalvesProblem, Side};
use super::layouts::Layouts;
use super::problem::{GemmProblem, OP, Sums};
use crate::Result;
use crate::layout::Precision;
use crate::layout::{DType, Layout};
use crate::plan::{Draft, Problem, Region};

/// A product of f16 halves.
pub(super) struct InHalves {
    /// Scaling and rounding both operands to f16.
    operands: [HalvesProblem; 2],
    /// With two halves for each operand: the products of a high with a low half.
    cross: Option<GemmProblem>,
    /// The product of the (high) halves, which stores the result.
    pub(super) last: GemmProblem,
    /// Where both operands of the first of these products lie among the halves.
    whole: [Layout; 2],
    /// Where the high halves lie.
    high: [Layout; 2],
}

impl GemmProblem {
    /// Whether the operands are to be multiplied as f16: both are in memory, and there is something to multiply.
    pub(super) fn is_in_halves(&self) -> bool {
        let is_wanted = self.types.ab == DType::F32 && self.precision != Precision::Strict;
        is_wanted && self.made.is_none() && self.dims.k > 0
    }

    /// The product as products of halves.
    pub(super) fn in_halves(&self) -> Result<InHalves> {
        let (layouts, this) = (self.layouts()?, self.summed_in(Sums::F32));
        let sides = [(&layouts.a, Side::A), (&layouts.b, Side::B)];
        let [a, b] = sides.map(|(layout, side)| HalvesProblem::new(layout, side, self.precision));
        let operands = [a?, b?];
        let lay = |i: usize| {
            let (layout, side) = sides[i];
            let whole = Layout::contiguous(OP, &shape_of(layout, side, operands[i].shape()[1]))?;
            Ok(if side == Side::B { whole.t() } else { whole })
        };
        let whole @ [a, b] = [lay(0)?, lay(1)?];
        // NOTE: not `stride`, which is 0 for a single row or column: the index of an exponent is an offset over this length.
        let row = a.strides()[a.rank() - 2].max(b.strides()[b.rank() - 1]);
        if self.precision == Precision::Fast {
            let last = this.on(&Layouts { a, b, ..layouts }, DType::F16)?.scaled_back(row, false)?;
            return Ok(InHalves { operands, cross: None, last, whole, high: whole });
        }
        let of_cross = Layout::contiguous(OP, layouts.c.shape())?;
        let cross = this.plain(DType::F32);
        let cross = cross.on(&Layouts { a, b, c: of_cross, bias: None, residual: None }, DType::F16)?;
        let high @ [a, b] = high(&a, &b)?;
        let last = this.on(&Layouts { a, b, ..layouts }, DType::F16)?.scaled_back(row, true)?;
        Ok(InHalves { operands, cross: Some(cross), last, whole, high })
    }

    /// Adds the steps of the product in halves: both operands scaled and rounded, for two halves the cross terms, then the
    /// product of the (high) halves, scaled back as it is stored.
    pub(super) fn by_halves(&self, draft: &mut Draft<'_>, operands: &[Region]) -> Result<()> {
        let InHalves { operands: problems, cross, last, whole, high } = self.in_halves()?;
        let (mut values, mut exponents) = (Vec::new(), Vec::new());
        for (problem, &operand) in problems.iter().zip(operands) {
            values.push(draft.temporary(&problem.shape(), DType::F16)?);
            exponents.push(draft.temporary(&problem.shape()[..1], DType::I32)?);
            let plan = problem.plan(draft.caps())?;
            draft.call(plan, &[operand, values[values.len() - 1], exponents[exponents.len() - 1]], &[])?;
        }
        let seen = |layouts: [Layout; 2]| [0, 1].map(|i| values[i].seen_as(layouts[i]));
        let Some(cross) = cross else {
            let [a, b] = seen(whole);
            return last.whole(draft, &[&[a, b], &operands[2..], &exponents].concat());
        };
        let terms = draft.temporary(&[self.elements()], DType::F32)?;
        let [a, b] = seen(whole);
        cross.alone(draft, &[a, b, terms])?;
        let [a, b] = seen(high);
        last.whole(draft, &[&[a, b], &operands[2..], &exponents, &[terms]].concat())
    }
}

/// The high halves of both operands: the first of A, and the last of B.
fn high(a: &Layout, b: &Layout) -> Result<[Layout; 2]> {
    let (columns, rows) = (a.rank() - 1, b.rank() - 2);
    let ld = a.shape()[columns] / 2;
    Ok([a.slice(columns, 0..ld)?, b.slice(rows, ld..2 * ld)?])
}

/// The shape of an operand's halves: the batch, the axis that the product keeps, and `row` elements along k.
fn shape_of(layout: &Layout, side: Side, row: usize) -> Vec<usize> {
    let mut shape = layout.shape().to_vec();
    let last = shape.len() - 1;
    if side == Side::B {
        shape.swap(last - 1, last);
    }
    shape[last] = row;
    shape
}
