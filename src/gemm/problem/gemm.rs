//! A matrix product, checked.

use super::epilogue::Epilogue;
use super::generated::{Generated, GeneratedOperand, PlacedWindows, SignHalf};
use super::layouts::{Layouts, MatrixLayout};
use super::segments::Segments;
use super::tile::{Pin, SplitK};
use super::types::{GemmTypes, OP, Side};
use crate::layout::{DType, Layout, Precision, dim};
use crate::{Error, Result};

/// A matrix product $C = AB$, or a batch of them, checked: the shapes are compatible, and every size is below $2^{31}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmProblem {
    /// Where the operands lie.
    pub(in crate::gemm) layouts: Layouts<MatrixLayout>,
    /// Element types.
    pub(crate) types: GemmTypes,
    /// Operations between a sum and its store.
    pub(crate) epilogue: Epilogue,
    /// Restriction of the plan's candidates.
    pub(crate) pin: Pin,
    /// Number of splits of k.
    pub(crate) split: SplitK,
    /// Precision of a product of f32 operands.
    pub(crate) precision: Precision,
    /// The generated part of the operands, if there is one.
    pub(crate) generated: Option<Generated>,
    /// The number of splits of k whose sums are stored in separate matrices of C. None if C holds the result.
    pub(in crate::gemm) splits: Option<u32>,
    /// Length of a row of A and of a column of B, if they are scaled.
    pub(in crate::gemm) scaled_row: u32,
}

/// The largest inner size of a product of i8: $131{,}071 \cdot 2^{14} < 2^{31}$, so no sum overflows i32.
pub const MAX_I8_K: u64 = 131_071;

/// The shape (..., m, n) of the product of `a` (..., m, k) and `b` (..., k, n). At most two leading axes are a batch and
/// broadcast.
///
/// # Errors
/// [`Error::Shape`] if an operand does not have two to four axes, the inner sizes differ or the batches do not broadcast.
pub fn product_shape(a: &Layout, b: &Layout) -> Result<Vec<usize>> {
    let (shape, rank) = product_extents(a, b)?;
    Ok(shape[..rank].to_vec())
}

/// The shape of the product in the first elements of an array, and its number of axes.
fn product_extents(a: &Layout, b: &Layout) -> Result<([usize; 4], usize)> {
    let wrong = |rule| Err(Error::shapes(OP, rule, a.shape(), b.shape()));
    let ranks = 2..=4;
    if !ranks.contains(&a.rank()) || !ranks.contains(&b.rank()) {
        return wrong("the operands must be matrices or batches of them, of two to four axes");
    }
    let ([a_batch @ .., m, k], [b_batch @ .., k2, n]) = (a.shape(), b.shape()) else {
        return wrong("the operands must be matrices");
    };
    if k != k2 {
        return wrong("the columns of A must be as many as the rows of B");
    }
    let batch_rank = a_batch.len().max(b_batch.len());
    let mut shape = [1; 4];
    for batch in [a_batch, b_batch] {
        for (extent, &own) in shape[batch_rank - batch.len()..].iter_mut().zip(batch) {
            match (*extent, own) {
                (1, _) => *extent = own,
                (_, 1) => {}
                (x, y) if x == y => {}
                _ => return wrong("the batches must be equal or broadcast, axis by axis from the last"),
            }
        }
    }
    shape[batch_rank..batch_rank + 2].copy_from_slice(&[*m, *n]);
    Ok((shape, batch_rank + 2))
}

impl GemmProblem {
    /// The product of `a` (..., m, k) and `b` (..., k, n), stored in `c` (..., m, n). `a` and `b` may have any strides. The
    /// columns of `c` must be contiguous; its rows and matrices must not overlap.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes are not compatible; [`Error::Limit`] if a size is $2^{31}$ or more, or if a sum of i8
    /// products could overflow i32; [`Error::Input`] for a result of 8 bits with a fraction.
    pub fn new(a: &Layout, b: &Layout, c: &Layout, types: GemmTypes) -> Result<Self> {
        let (shape, rank) = product_extents(a, b)?;
        let shape = &shape[..rank];
        if c.shape() != shape {
            return Err(Error::shapes(OP, "the output must have the shape of the product", c.shape(), shape));
        }
        let k = a.shape()[a.rank() - 1];
        if types.ab == DType::I8 {
            let what = "the inner size of a product of i8, whose sums might pass i32,";
            Error::check_limit(OP, what, k as u64, MAX_I8_K)?;
        }
        types.c.check_computed(OP)?;
        check_output(c)?;
        dim(OP, shape[..rank - 2].iter().product())?;
        let [a, b] = [a, b].map(|of| MatrixLayout::of(of, types.ab, 2));
        let layouts = Layouts { a: a?, b: b?, c: MatrixLayout::of_output(c, types.c)?, extras: [None; 4] };
        Ok(Self::of(layouts, types, None))
    }

    /// A product without options of operands with these layouts.
    pub(in crate::gemm) fn of(
        layouts: Layouts<MatrixLayout>,
        types: GemmTypes,
        generated: Option<Generated>,
    ) -> Self {
        Self {
            layouts,
            types,
            generated,
            splits: None,
            scaled_row: 0,
            epilogue: Epilogue::default(),
            pin: Pin::Free,
            split: SplitK::Auto,
            precision: Precision::Strict,
        }
    }

    /// The number of rows of A and C.
    pub(in crate::gemm) fn m(&self) -> u32 {
        self.layouts.c.shape[2]
    }

    /// The number of columns of B and C.
    pub(in crate::gemm) fn n(&self) -> u32 {
        self.layouts.c.shape[3]
    }

    /// The inner size: columns of A and rows of B. Of a product over segments, that of the matrix with the most segments.
    pub(in crate::gemm) fn k(&self) -> u32 {
        let row_of_a = self.layouts.a.shape[3];
        match self.generated {
            Some(Generated::Segments(segments)) => segments.k,
            Some(Generated::Windows(PlacedWindows { of, .. })) if of.side() == Side::A => {
                of.elements(row_of_a)
            }
            Some(_) | None => row_of_a,
        }
    }

    /// The number of matrices.
    pub(in crate::gemm) fn batches(&self) -> u32 {
        self.layouts.c.shape[0] * self.layouts.c.shape[1]
    }

    /// The number of pairs of a matrix of the batch and a split of k. Each pair has its own workgroups.
    pub(in crate::gemm) fn pairs(&self) -> u64 {
        u64::from(self.batches()) * u64::from(self.splits.unwrap_or(1))
    }

    /// Whether every row of C starts at a multiple of this number of elements.
    pub(in crate::gemm) fn rows_of_c_start_at(&self, multiple: u32) -> bool {
        let c = &self.layouts.c;
        c.strides[..3].iter().chain(&[c.offset]).all(|start| start.is_multiple_of(multiple))
    }

    /// Element types.
    #[must_use]
    pub fn types(&self) -> GemmTypes {
        self.types
    }

    /// Operations of the product by definition, on integers or in floating point: each multiply-add counts as two. The
    /// epilogue and the generation of operands are not counted.
    #[must_use]
    pub fn flops(&self) -> f64 {
        2.0 * self.multiply_adds()
    }

    /// The operand on this side, if the whole operand is generated.
    pub(in crate::gemm) fn generated_at(&self, side: Side) -> Option<GeneratedOperand> {
        match self.generated {
            Some(Generated::Operand(generated)) if generated.side == side => Some(generated),
            _ => None,
        }
    }

    /// The generated half of B, if there is one.
    pub(in crate::gemm) fn sign_half_of_b(&self) -> Option<SignHalf> {
        match self.generated {
            Some(Generated::SignHalf(signs)) => Some(signs),
            _ => None,
        }
    }

    /// The segments that the product is summed over, if it has segments.
    pub(in crate::gemm) fn segments(&self) -> Option<Segments> {
        match self.generated {
            Some(Generated::Segments(segments)) => Some(segments),
            _ => None,
        }
    }

    /// Whether the operands are split into f16: the precision allows it, both are stored, and k is not 0.
    pub(in crate::gemm) fn is_f16_split(&self) -> bool {
        let is_wanted = self.types.ab == DType::F32 && self.precision != Precision::Strict;
        is_wanted && self.generated.is_none() && self.k() > 0
    }

    /// Multiply-adds of the product, without those that generate an operand.
    fn multiply_adds(&self) -> f64 {
        let [m, n] = [self.m(), self.n()].map(f64::from);
        match self.segments() {
            // The padding of segments is not counted.
            Some(Segments { total, length, .. }) => f64::from(total) * m * n * f64::from(length),
            None => f64::from(self.batches()) * m * n * f64::from(self.k()),
        }
    }

    /// The number of elements of C, in all matrices of the batch.
    pub(in crate::gemm) fn elements(&self) -> usize {
        self.layouts.c.shape.into_iter().map(|extent| extent as usize).product()
    }
}

fn check_output(c: &Layout) -> Result<()> {
    if c.is_empty() {
        return Ok(());
    }
    let columns = c.rank() - 1;
    let has_contiguous_columns = c.shape()[columns] <= 1 || c.strides()[columns] == 1;
    let mut axes = [(0, 1); 4];
    for (axis, to) in axes.iter_mut().enumerate().take(c.rank()) {
        *to = (c.step(axis), c.shape()[axis]);
    }
    axes.sort_unstable();
    // Sorted by stride, each stride must be at least the span of the smaller axes.
    let mut span = 1;
    let mut overlaps = false;
    for (stride, extent) in axes.into_iter().filter(|&(_, extent)| extent > 1) {
        overlaps |= stride < span;
        span += (extent - 1) * stride;
    }
    if !has_contiguous_columns || overlaps {
        let rule = "the output's columns must be neighbours, and its rows and matrices must not overlap";
        return Err(Error::shapes(OP, rule, c.shape(), c.strides()));
    }
    Ok(())
}
