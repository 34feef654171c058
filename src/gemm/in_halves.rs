//! Products of f32 operands by products of f16: `Precision::Fast` and `Precision::Split`.

use super::halves::{Halves, HalvesProblem, Side, halves_of};
use super::launch::{Product, launch_parts};
use super::plan::explain;
use super::precision::Precision;
use super::problem::{GemmProblem, OP};
use crate::Result;
use crate::gpu::{Caps, Gpu};
use crate::kernel::Plan;
use crate::tensor::{DType, Layout, Tensor, View};

/// The launches of a product of f16 halves, as problems.
pub(super) struct InHalves {
    /// Scaling and rounding both operands to f16.
    operands: [HalvesProblem; 2],
    /// With two halves for each operand: the products of a high with a low half.
    cross: Option<GemmProblem>,
    /// The product of the (high) halves, which stores the result.
    last: GemmProblem,
}

impl<'a> Product<'a> {
    /// Whether the operands are to be multiplied as f16: both are in memory.
    pub(super) fn is_in_halves(&self) -> bool {
        self.a.dtype == DType::F32 && self.precision != Precision::Strict && self.signs.is_none()
    }

    /// The launches for a result of this layout and type.
    fn in_halves(&self, c: &Layout, dtype: DType) -> Result<InHalves> {
        let sides = [(&self.a.layout, Side::A), (&self.b.layout, Side::B)];
        let [a, b] = sides.map(|(layout, side)| HalvesProblem::new(layout, side, self.precision));
        let operands = [a?, b?];
        let lay = |i: usize| {
            let (layout, side) = sides[i];
            let whole = Layout::contiguous(OP, &shape_of(layout, side, operands[i].shape()[1]))?;
            Ok(if side == Side::B { whole.t() } else { whole })
        };
        let [a, b] = [lay(0)?, lay(1)?];
        // NOTE: not `stride`, which is 0 for a single row or column: the index of an exponent is an offset over this length.
        let row = a.strides()[a.rank() - 2].max(b.strides()[b.rank() - 1]);
        if self.precision == Precision::Fast {
            let last = self.problem_of([&a, &b], DType::F16, c, dtype)?.scaled_back(row, false)?;
            return Ok(InHalves { operands, cross: None, last });
        }
        let of_cross = Layout::contiguous(OP, c.shape())?;
        let cross = self.plain().problem_of([&a, &b], DType::F16, &of_cross, DType::F32)?;
        let [a, b] = high(&a, &b)?;
        let last = self.problem_of([&a, &b], DType::F16, c, dtype)?.scaled_back(row, true)?;
        Ok(InHalves { operands, cross: Some(cross), last })
    }

    /// Plans and compiles all launches for a result of this layout and type.
    pub(super) fn ready_in_halves(&self, gpu: &Gpu, c: &Layout, dtype: DType) -> Result<()> {
        let InHalves { operands, cross, last } = self.in_halves(c, dtype)?;
        for (problem, view) in operands.iter().zip([&self.a, &self.b]) {
            if !view.layout.is_empty() {
                gpu.planned(problem)?;
            }
        }
        cross.iter().chain([&last]).try_for_each(|problem| gpu.planned(problem).map(|_| ()))
    }

    /// The product into `c` in halves: both operands scaled and rounded, a launch each; for two halves the cross terms;
    /// then the product of the (high) halves, scaled back as it is stored.
    pub(super) fn launch_in_halves(&self, gpu: &Gpu, c: View<'_>) -> Result<()> {
        let InHalves { cross, last, .. } = self.in_halves(&c.layout, c.dtype)?;
        let [a, b] =
            [halves_of(self.a, Side::A, self.precision)?, halves_of(self.b, Side::B, self.precision)?];
        let [whole_a, whole_b] =
            [matrices(&a, &self.a.layout, Side::A)?, matrices(&b, &self.b.layout, Side::B)?];
        let whole = [whole_a.as_view(), whole_b.as_view()];
        let exponents = [a.exponents.as_view(), b.exponents.as_view()];
        let Some(problem) = cross else {
            return launch_parts(gpu, &last, whole, &[], c, self.extras().chain(exponents));
        };
        let cross: Tensor<f32> = gpu.empty(c.layout.shape())?;
        launch_parts(gpu, &problem, whole, &[], cross.as_view(), [])?;
        let [mut a, mut b] = whole;
        [a.layout, b.layout] = high(&a.layout, &b.layout)?;
        launch_parts(gpu, &last, [a, b], &[], c, self.extras().chain(exponents).chain([cross.as_view()]))
    }

    /// How the last of these launches would be computed.
    pub(super) fn explain_in_halves(&self, c: &Layout, dtype: DType, caps: &Caps) -> Result<Plan> {
        let halves = match self.precision {
            Precision::Split => "two halves each, and one more product for the cross terms",
            _ => "one half each",
        };
        let mut plan = explain(&self.in_halves(c, dtype)?.last, caps)?;
        let why = "operands of f32 are scaled and rounded to f16 first, a launch each";
        plan.reasons.insert(0, format!("{why}: {halves}"));
        Ok(plan)
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

/// Halves as matrices of the operand's batch, k padded, both halves side by side.
fn matrices(halves: &Halves, layout: &Layout, side: Side) -> Result<Tensor<half::f16>> {
    let matrices = halves.values.reshape(shape_of(layout, side, halves.values.shape()[1]))?;
    Ok(if side == Side::B { matrices.t() } else { matrices })
}
