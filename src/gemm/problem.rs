//! A matrix product, checked: what to compute, as plain data.

use super::plan::GemmKernel;
use super::tile::Tile;
use crate::tensor::{DType, Layout, dim};
use crate::{Error, Result};

/// The uniform of the matrix-product shaders (`shaders/common/gemm_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct GemmDims {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a_outer: u32,
    pub a_k: u32,
    pub a_offset: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub ldc: u32,
    pub c_offset: u32,
    pub reserved: u32,
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
}

/// A matrix product $C = AB$, checked: the shapes go together and every size is below $2^{31}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmProblem {
    /// The sizes, as the shaders have them.
    pub dims: GemmDims,
    /// The element types.
    pub types: GemmTypes,
    /// What the plan is restricted to.
    pub pin: Pin,
}

pub(super) const OP: &str = "matmul";

/// The shape (m, n) of the product of `a` (m, k) and `b` (k, n).
///
/// # Errors
/// [`Error::Shape`] if they are not matrices or the inner sizes differ.
pub fn product_shape(a: &Layout, b: &Layout) -> Result<[usize; 2]> {
    match (a.shape(), b.shape()) {
        (&[m, k], &[k2, n]) if k == k2 => Ok([m, n]),
        (&[_, _], &[_, _]) => {
            Err(Error::shape(OP, "the columns of A must be as many as the rows of B", a.shape(), b.shape()))
        }
        _ => Err(Error::shape(OP, "the operands must be matrices, of two axes", a.shape(), b.shape())),
    }
}

impl GemmProblem {
    /// The product of `a` (m, k) and `b` (k, n) in `c` (m, n). Operands may have any strides; the output's columns
    /// are neighbours and its rows do not overlap.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes do not go together; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(a: &Layout, b: &Layout, c: &Layout, types: GemmTypes) -> Result<Self> {
        let [m, n] = product_shape(a, b)?;
        if c.shape() != [m, n] {
            return Err(Error::shape(
                OP,
                "the output must have the shape of the product",
                c.shape(),
                &[m, n],
            ));
        }
        let [row, column] = [stride(c, 0), stride(c, 1)];
        if (n > 1 && column != 1) || (m > 1 && row < n) {
            let rule = "the output's columns must be neighbours, and its rows must not overlap";
            return Err(Error::shape(OP, rule, c.shape(), c.strides()));
        }
        let dims = GemmDims {
            m: dim(OP, m)?,
            n: dim(OP, n)?,
            k: dim(OP, a.shape()[1])?,
            a_outer: dim(OP, stride(a, 0))?,
            a_k: dim(OP, stride(a, 1))?,
            a_offset: a.offset_in_window(types.ab),
            b_outer: dim(OP, stride(b, 1))?,
            b_k: dim(OP, stride(b, 0))?,
            b_offset: b.offset_in_window(types.ab),
            // One row has no next one: any stride will do, but the packed stores divide by it, and whole vectors are
            // stored where it holds whole ones.
            ldc: dim(OP, if m > 1 { row } else { n.max(1).next_multiple_of(4) })?,
            c_offset: c.offset_in_window(types.c),
            reserved: 0,
        };
        Ok(Self { dims, types, pin: Pin::Free })
    }

    /// The same problem, its plan restricted.
    #[must_use]
    pub fn pinned(self, pin: Pin) -> Self {
        Self { pin, ..self }
    }

    /// Floating-point operations: a multiply-add counts two.
    #[must_use]
    pub fn flops(&self) -> f64 {
        2.0 * f64::from(self.dims.m) * f64::from(self.dims.n) * f64::from(self.dims.k)
    }

    /// Elements of the bindings of A, B and C, to behind the last that is used.
    #[must_use]
    pub fn binding_elements(&self) -> [u64; 3] {
        let d = &self.dims;
        let last = |offset: u32, steps: [(u32, u32); 2]| {
            let step = |(extent, stride): (u32, u32)| u64::from(extent.saturating_sub(1)) * u64::from(stride);
            u64::from(offset) + steps.into_iter().map(step).sum::<u64>() + 1
        };
        [
            last(d.a_offset, [(d.m, d.a_outer), (d.k, d.a_k)]),
            last(d.b_offset, [(d.n, d.b_outer), (d.k, d.b_k)]),
            last(d.c_offset, [(d.m, d.ldc), (d.n, 1)]),
        ]
    }
}

/// The stride along an axis; 0 where there is no second index to step to.
fn stride(layout: &Layout, axis: usize) -> usize {
    if layout.shape()[axis] > 1 { layout.strides()[axis] } else { 0 }
}
