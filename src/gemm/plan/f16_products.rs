//! Products of f32 operands by products of f16: `Precision::Fast` and `Precision::Split`.

use crate::Result;
use crate::gemm::f16_split::F16SplitProblem;
use crate::gemm::problem::{Accumulator, GemmProblem, Layouts, OP, Side};
use crate::layout::{DType, Layout, Precision};
use crate::plan::{Draft, Problem, Region};

/// The products of f16 operands that compute a product of f32 operands.
pub(super) struct F16Products {
    /// The f16 splits of both operands.
    operands: [F16SplitProblem; 2],
    /// The product of the cross terms, high times low half; only if the operands have low halves.
    cross: Option<GemmProblem>,
    /// The product of the high halves, which stores the result.
    pub(super) last: GemmProblem,
    /// Layouts of both splits as the operands of the first of these products.
    whole: [Layout; 2],
    /// Layouts of the high halves within the splits.
    high: [Layout; 2],
}

impl GemmProblem {
    /// The products of f16 operands that compute this product.
    pub(super) fn f16_products(&self) -> Result<F16Products> {
        let (layouts, this) = (self.layouts.layouts(), self.accumulated_in(Accumulator::F32));
        let sides = [(&layouts.a, Side::A), (&layouts.b, Side::B)];
        let [a, b] = sides.map(|(layout, side)| F16SplitProblem::new(layout, side, self.precision));
        let operands = [a?, b?];
        let layout_of = |i: usize| {
            let (layout, side) = sides[i];
            let whole = Layout::contiguous(OP, &shape_of(layout, side, operands[i].shape()[1]))?;
            Ok(if side == Side::B { whole.t() } else { whole })
        };
        let whole @ [a, b] = [layout_of(0)?, layout_of(1)?];
        // NOTE: not `step`, which is 0 for a single row or column: the index of an exponent is an offset divided by this.
        let row = a.strides()[a.rank() - 2].max(b.strides()[b.rank() - 1]);
        if self.precision == Precision::Fast {
            let last =
                this.with_operands(&Layouts { a, b, ..layouts }, DType::F16)?.scaled_back(row, false)?;
            return Ok(F16Products { operands, cross: None, last, whole, high: whole });
        }
        let of_cross = Layouts { a, b, c: layouts.c.dense(), extras: [None; 4] };
        let cross = this.without_epilogue(DType::F32).with_operands(&of_cross, DType::F16)?;
        let high @ [a, b] = high(&a, &b)?;
        let last = this.with_operands(&Layouts { a, b, ..layouts }, DType::F16)?.scaled_back(row, true)?;
        Ok(F16Products { operands, cross: Some(cross), last, whole, high })
    }

    /// Adds the steps of a product whose operands can be bound.
    pub(super) fn add_steps(&self, draft: &mut Draft<'_>, operands: &[Region]) -> Result<()> {
        if self.is_f16_split() {
            return self.add_f16_steps(draft, operands);
        }
        self.check_bound(draft.caps())?;
        let (tile, splits) = self.choose(draft.caps())?;
        tile.steps(draft, self, splits, operands)
    }

    /// Adds the steps of a product with an f16 split: the splits of both operands, the cross terms if there are low halves,
    /// then the product of the high halves, whose epilogue undoes the scaling.
    fn add_f16_steps(&self, draft: &mut Draft<'_>, operands: &[Region]) -> Result<()> {
        let F16Products { operands: problems, cross, last, whole, high } = self.f16_products()?;
        let (mut values, mut exponents) = (Vec::new(), Vec::new());
        for (problem, &operand) in problems.iter().zip(operands) {
            values.push(draft.temporary(&problem.shape(), DType::F16)?);
            exponents.push(draft.temporary(&problem.shape()[..1], DType::I32)?);
            let plan = problem.plan(draft.caps())?;
            draft.call(plan, &[operand, values[values.len() - 1], exponents[exponents.len() - 1]], &[])?;
        }
        let seen = |layouts: [Layout; 2]| [0, 1].map(|i| values[i].with_layout(layouts[i]));
        let Some(cross) = cross else {
            let [a, b] = seen(whole);
            return last.add_steps(draft, &[&[a, b], &operands[2..], &exponents].concat());
        };
        let terms = draft.temporary(&[self.elements()], DType::F32)?;
        let [a, b] = seen(whole);
        cross.add_inner_steps(draft, &[a, b, terms])?;
        let [a, b] = seen(high);
        last.add_steps(draft, &[&[a, b], &operands[2..], &exponents, &[terms]].concat())
    }

    /// Adds the steps of an inner product of a plan. Its alpha is 1, so it takes no scalars of the call.
    pub(in crate::gemm) fn add_inner_steps(&self, draft: &mut Draft<'_>, operands: &[Region]) -> Result<()> {
        let mut inner = Draft::new(OP, &[], draft.caps());
        let own: Vec<Region> = self.operands()?.iter().map(|of| inner.add(of).0).collect();
        self.add_steps(&mut inner, &own)?;
        draft.call(inner.finish(), operands, &[])
    }
}

/// The layouts of the high halves: the first columns of A's split, and the last rows of B's.
fn high(a: &Layout, b: &Layout) -> Result<[Layout; 2]> {
    let (columns, rows) = (a.rank() - 1, b.rank() - 2);
    let ld = a.shape()[columns] / 2;
    Ok([a.slice(columns, 0..ld)?, b.slice(rows, ld..2 * ld)?])
}

/// The shape of an operand's split: the batch, the outer axis, and `row` elements along k.
fn shape_of(layout: &Layout, side: Side, row: usize) -> Vec<usize> {
    let mut shape = layout.shape().to_vec();
    let last = shape.len() - 1;
    if side == Side::B {
        shape.swap(last - 1, last);
    }
    shape[last] = row;
    shape
}
