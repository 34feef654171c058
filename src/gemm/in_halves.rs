//! Products of f32 operands by products of f16: `Precision::Fast` and `Precision::Split`.

use super::epilogue::{Epilogue, Scale};
use super::halves::{Halves, Side, halves_of};
use super::launch::Product;
use super::plan::explain;
use super::precision::Precision;
use super::problem::{GemmProblem, GemmTypes, OP, Sums};
use crate::Result;
use crate::gpu::{Caps, Gpu};
use crate::kernel::Plan;
use crate::ops::Activation;
use crate::tensor::{DType, Layout, Tensor, View};

/// What undoes the scaling of operands, in the epilogue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling<'a> {
    /// One exponent for each row of A, and for each column of B.
    pub(super) exponents: [View<'a>; 2],
    /// The sums of the cross terms, in the shape of C, without gaps.
    pub(super) cross: Option<View<'a>>,
}

impl<'a> Product<'a> {
    /// Whether the operands are to be multiplied as f16: both are in memory.
    pub(super) fn is_in_halves(&self) -> bool {
        self.a.dtype == DType::F32 && self.precision != Precision::Strict && self.signs.is_none()
    }

    /// The product into `c` in halves: both operands scaled and rounded, a launch each; for two halves the cross terms;
    /// then the product of the (high) halves, scaled back as it is stored.
    pub(super) fn launch_in_halves(&self, gpu: &Gpu, c: View<'_>) -> Result<()> {
        let [a, b] =
            [halves_of(self.a, Side::A, self.precision)?, halves_of(self.b, Side::B, self.precision)?];
        let [whole_a, whole_b] =
            [matrices(&a, &self.a.layout, Side::A)?, matrices(&b, &self.b.layout, Side::B)?];
        let of_halves = Self { precision: Precision::Strict, sums: Sums::F32, ..*self };
        let exponents = [a.exponents.as_view(), b.exponents.as_view()];
        if self.precision == Precision::Fast {
            let scaling = Some(Scaling { exponents, cross: None });
            let (a, b) = (whole_a.as_view(), whole_b.as_view());
            let product = Product { a, b, scaling, ..of_halves };
            return product.launch_whole(gpu, &product.problem(&c.layout, c.dtype)?, c);
        }
        let cross: Tensor<f32> = gpu.empty(c.layout.shape())?;
        let (a, b) = (whole_a.as_view(), whole_b.as_view());
        let plain = Product { a, b, bias: None, residual: None, alpha: 1.0, beta: 0.0, ..of_halves };
        let plain = Product { activation: Activation::None, ..plain };
        plain.launch_whole(gpu, &plain.problem(cross.layout(), DType::F32)?, cross.as_view())?;
        // The high half comes first in A, and last in B.
        let (columns, rows) = (a.layout.rank() - 1, b.layout.rank() - 2);
        let ld = a.layout.shape()[columns] / 2;
        let (a, b) = (a.slice(columns, 0..ld)?, b.slice(rows, ld..2 * ld)?);
        let scaling = Some(Scaling { exponents, cross: Some(cross.as_view()) });
        let product = Product { a, b, scaling, ..of_halves };
        product.launch_whole(gpu, &product.problem(&c.layout, c.dtype)?, c)
    }

    /// How the last of these launches would be computed.
    pub(super) fn explain_in_halves(&self, problem: &GemmProblem, c: &Layout, caps: &Caps) -> Result<Plan> {
        let (parts, scale, halves) = match self.precision {
            Precision::Split => {
                (2, Scale::BackWithCross, "two halves each, and one more product for the cross terms")
            }
            _ => (1, Scale::Back, "one half each"),
        };
        let layout = |layout, side| {
            let mut shape = shape_of(layout, side);
            let last = shape.len() - 1;
            let ld = shape[last].next_multiple_of(8);
            shape[last] = parts * ld;
            let whole = Layout::contiguous(OP, &shape)?;
            whole.slice(last, if side == Side::A { 0..ld } else { (parts - 1) * ld..parts * ld })
        };
        let (a, b) = (layout(&self.a.layout, Side::A)?, layout(&self.b.layout, Side::B)?.t());
        let epilogue = Epilogue { scale, ..problem.epilogue };
        let last = GemmProblem::new(&a, &b, c, GemmTypes::new(DType::F16, problem.types.c))?;
        let mut plan = explain(&GemmProblem { epilogue, pin: self.pin, split: self.split, ..last }, caps)?;
        let why = "operands of f32 are scaled and rounded to f16 first, a launch each";
        plan.reasons.insert(0, format!("{why}: {halves}"));
        Ok(plan)
    }
}

/// Axes of an operand as its halves have them: a batch, the axis that the product keeps, k.
fn shape_of(layout: &Layout, side: Side) -> Vec<usize> {
    let mut shape = layout.shape().to_vec();
    let last = shape.len() - 1;
    if side == Side::B {
        shape.swap(last - 1, last);
    }
    shape
}

/// Halves as matrices of the operand's batch, k padded, both halves side by side.
fn matrices(halves: &Halves, layout: &Layout, side: Side) -> Result<Tensor<half::f16>> {
    let mut shape = shape_of(layout, side);
    if let Some(last) = shape.last_mut() {
        *last = halves.values.shape()[1];
    }
    let matrices = halves.values.reshape(shape)?;
    Ok(if side == Side::B { matrices.t() } else { matrices })
}
