//! A matrix product, checked: what to compute, as plain data.

use super::epilogue::Epilogue;
use super::generated::Made;
use super::kernels::{GemmKernel, Tile};
use crate::layout::Precision;
use crate::layout::{DType, Layout, dim};
use crate::{Error, Result};

/// The sizes of a product, in elements: the uniform of matrix-product shaders whose operands lie in memory
/// (`shaders/gemm/gemm_dims.wgsl`). Of a problem, `alpha` and `beta` are 0: they are scalars of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct GemmDims {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub k_part: u32,
    pub batches: u32,
    pub batch1: u32,
    pub splits: u32,
    pub a_outer: u32,
    pub a_k: u32,
    pub a_offset: u32,
    pub a_batch0: u32,
    pub a_batch1: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub b_batch0: u32,
    pub b_batch1: u32,
    pub ldc: u32,
    pub c_offset: u32,
    pub c_batch0: u32,
    pub c_batch1: u32,
    /// The bits of an f32, which could not be compared; so is `beta`.
    pub alpha: u32,
    pub beta: u32,
    pub bias_row: u32,
    pub bias_col: u32,
    pub bias_offset: u32,
    pub residual_row: u32,
    pub residual_col: u32,
    pub residual_offset: u32,
    pub residual_batch0: u32,
    pub residual_batch1: u32,
    pub scaled_row: u32,
}

impl GemmDims {
    /// Where rows of C may start.
    pub(super) fn c_starts(&self) -> [u32; 4] {
        [self.c_offset, self.c_batch0, self.c_batch1, self.ldc]
    }

    /// Matrices of the batch times parts of k: each such pair has its own workgroups.
    pub(super) fn parts(&self) -> u64 {
        u64::from(self.batches) * u64::from(self.splits)
    }
}

/// What the sums of a product may be computed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sums {
    /// In f32, all of them.
    #[default]
    F32,
    /// Allows sums of at most [`STEP`](crate::reference::STEP) products in f16, where operands are f16 and a kernel
    /// has such a form; f32 takes the sums of those. Less precise by far, faster on some GPUs.
    ///
    /// [`reference::gamma_f16`](crate::reference::gamma_f16) bounds the error as long as no product and no such sum
    /// is beyond 65,504, the largest f16: beyond it no result is defined.
    F16,
}

impl Sums {
    pub(super) fn bytes(self) -> u32 {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }
}

/// The element types of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmTypes {
    /// Of A and B.
    pub ab: DType,
    /// Of C.
    pub c: DType,
    /// Of sums.
    pub sums: Sums,
}

impl GemmTypes {
    /// Operands and result of these types, summed in f32.
    #[must_use]
    pub const fn new(ab: DType, c: DType) -> Self {
        Self { ab, c, sums: Sums::F32 }
    }

    /// Of A, B and C.
    #[must_use]
    pub fn of_operands(&self) -> [DType; 3] {
        [self.ab, self.ab, self.c]
    }
}

/// What a plan is restricted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pin {
    /// Nothing: the cheapest candidate.
    #[default]
    Free,
    /// The tiles of one kernel.
    Kernel(GemmKernel),
    /// One tile.
    Tile(Tile),
    /// The kernels that stage blocks of real operands, [`GemmKernel::Tiled`] and [`GemmKernel::Coop`]: a product has the
    /// same bits whether half of an operand is in memory or made.
    Staged,
}

/// Into how many parts of the inner size a product may be split, each summed by other workgroups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Split {
    /// As many as are predicted to be the fastest.
    #[default]
    Free,
    /// So many, or as many as there are steps of 32; 1 is none.
    Parts(u32),
}

/// A matrix product $C = AB$ or a batch of them, checked: the shapes go together and every size is below $2^{31}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmProblem {
    /// The sizes, as the shaders have them.
    pub(crate) dims: GemmDims,
    /// The element types.
    pub(crate) types: GemmTypes,
    /// What becomes of sums as they are stored.
    pub(crate) epilogue: Epilogue,
    /// What the plan is restricted to.
    pub(crate) pin: Pin,
    /// Into how many parts it may be split.
    pub(crate) split: Split,
    /// How precise a product of f32 operands has to be.
    pub(crate) precision: Precision,
    /// What is not in memory as the product has it, if anything is.
    pub(crate) made: Option<Made>,
}

pub(super) const OP: &str = "matmul";

/// The largest inner size of a product of i8: $131{,}071 \cdot 2^{14} < 2^{31}$, so no sum can pass i32.
pub const I8_INNER: u64 = 131_071;

/// The shape (..., m, n) of the product of `a` (..., m, k) and `b` (..., k, n), of at most two axes in front, which
/// broadcast.
///
/// # Errors
/// [`Error::Shape`] if they have other numbers of axes, the inner sizes differ or the batches do not broadcast.
pub fn product_shape(a: &Layout, b: &Layout) -> Result<Vec<usize>> {
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
    let rank = a_batch.len().max(b_batch.len());
    let mut shape = vec![1; rank];
    for batch in [a_batch, b_batch] {
        for (extent, &own) in shape[rank - batch.len()..].iter_mut().zip(batch) {
            match (*extent, own) {
                (1, _) => *extent = own,
                (_, 1) => {}
                (x, y) if x == y => {}
                _ => return wrong("the batches must be equal or broadcast, axis by axis from the last"),
            }
        }
    }
    shape.extend([*m, *n]);
    Ok(shape)
}

impl GemmProblem {
    /// The product of `a` (..., m, k) and `b` (..., k, n) in `c` (..., m, n). Operands may have any strides; the
    /// output's columns are neighbours, and its rows and matrices do not overlap.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes do not go together; [`Error::Limit`] if a size is $2^{31}$ or more, or a sum of
    /// products of i8 might pass i32.
    pub fn new(a: &Layout, b: &Layout, c: &Layout, types: GemmTypes) -> Result<Self> {
        let shape = product_shape(a, b)?;
        if c.shape() != shape {
            return Err(Error::shapes(
                OP,
                "the output must have the shape of the product",
                c.shape(),
                &shape,
            ));
        }
        let rank = shape.len();
        let [m, n] = [shape[rank - 2], shape[rank - 1]];
        let k = a.shape()[a.rank() - 1];
        if types.ab == DType::I8 && k as u64 > I8_INNER {
            let what = "the inner size of a product of i8, whose sums might pass i32,".into();
            return Err(Error::Limit { op: OP, what, needed: k as u64, allowed: I8_INNER });
        }
        check_output(c)?;
        let [a_batch0, a_batch1] = batch_strides(a)?;
        let [b_batch0, b_batch1] = batch_strides(b)?;
        let [c_batch0, c_batch1] = batch_strides(c)?;
        let batch1 = if rank > 2 { shape[rank - 3] } else { 1 };
        let batches = dim(OP, shape[..rank - 2].iter().product())?;
        let dims = GemmDims {
            m: dim(OP, m)?,
            n: dim(OP, n)?,
            k: dim(OP, k)?,
            k_part: dim(OP, k)?,
            batches,
            batch1: dim(OP, batch1)?,
            splits: 1,
            a_outer: dim(OP, stride(a, 2))?,
            a_k: dim(OP, stride(a, 1))?,
            a_offset: a.offset_in_window(types.ab),
            a_batch0,
            a_batch1,
            b_outer: dim(OP, stride(b, 1))?,
            b_k: dim(OP, stride(b, 2))?,
            b_offset: b.offset_in_window(types.ab),
            b_batch0,
            b_batch1,
            // One row has no next one: any stride will do, but whole vectors are stored where it holds whole ones.
            ldc: dim(OP, if m > 1 { stride(c, 2) } else { n.max(1).next_multiple_of(4) })?,
            c_offset: c.offset_in_window(types.c),
            c_batch0,
            c_batch1,
            ..GemmDims::default()
        };
        let (epilogue, pin, split) = (Epilogue::default(), Pin::Free, Split::Free);
        Ok(Self { dims, types, epilogue, pin, split, precision: Precision::Strict, made: None })
    }

    /// The sizes, as the shaders have them.
    #[must_use]
    pub fn dims(&self) -> &GemmDims {
        &self.dims
    }

    /// The element types.
    #[must_use]
    pub fn types(&self) -> GemmTypes {
        self.types
    }

    /// The same problem, its plan restricted.
    #[must_use]
    pub fn pinned(self, pin: Pin) -> Self {
        Self { pin, ..self }
    }

    /// The same problem, in so many parts.
    #[must_use]
    pub fn split(self, split: Split) -> Self {
        Self { split, ..self }
    }

    /// The same problem, summed in this.
    #[must_use]
    pub(super) fn summed_in(mut self, sums: Sums) -> Self {
        self.types.sums = sums;
        self
    }

    /// The same problem, which has to be so precise if its operands are f32.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Operations of the product by its definition, on integers or in floating point: a multiply-add counts two. Those of its
    /// epilogue are not counted, nor those that make operands.
    #[must_use]
    pub fn flops(&self) -> f64 {
        2.0 * self.multiply_adds()
    }

    /// Where the matrices or planes of A may start, as offsets that add up.
    pub(super) fn a_starts(&self) -> [u32; 3] {
        let d = &self.dims;
        self.segments().map_or([d.a_offset, d.a_batch0, d.a_batch1], |segments| segments.a.starts())
    }

    /// As [`a_starts`](Self::a_starts), of B.
    pub(super) fn b_starts(&self) -> [u32; 3] {
        let d = &self.dims;
        self.segments().map_or([d.b_offset, d.b_batch0, d.b_batch1], |segments| segments.b.starts())
    }

    /// Elements of all matrices of C.
    pub(super) fn elements(&self) -> usize {
        let d = &self.dims;
        d.batches as usize * d.m as usize * d.n as usize
    }
}

fn check_output(c: &Layout) -> Result<()> {
    if c.is_empty() {
        return Ok(());
    }
    let mut steps: Vec<(usize, usize)> = c.strides().iter().copied().zip(c.shape().iter().copied()).collect();
    let columns = steps.last().is_none_or(|&(stride, extent)| extent <= 1 || stride == 1);
    steps.retain(|&(_, extent)| extent > 1);
    steps.sort_unstable();
    // From the smallest step on: each steps over all that those before it span.
    let mut span = 1;
    let mut overlaps = false;
    for (stride, extent) in steps {
        overlaps |= stride < span;
        span += (extent - 1) * stride;
    }
    if !columns || overlaps {
        let rule = "the output's columns must be neighbours, and its rows and matrices must not overlap";
        return Err(Error::shapes(OP, rule, c.shape(), c.strides()));
    }
    Ok(())
}

/// The stride along an axis counted from the last, as 1; 0 where there is no second index to step to.
pub(super) fn stride(layout: &Layout, from_last: usize) -> usize {
    match layout.rank().checked_sub(from_last) {
        Some(axis) if layout.shape()[axis] > 1 => layout.strides()[axis],
        _ => 0,
    }
}

/// The strides of the two axes in front of a matrix.
pub(super) fn batch_strides(layout: &Layout) -> Result<[u32; 2]> {
    Ok([dim(OP, stride(layout, 4))?, dim(OP, stride(layout, 3))?])
}
