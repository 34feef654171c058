//! Products with an operand B of which one half is in memory and the other is signs that are made from a seed, element by
//! element where others are staged.

use super::Gemm;
use super::generated::{Made, Outer};
use super::problem::{GemmProblem, OP};
use crate::kernel::Kernel;
use crate::layout::{Layout, Real, dim};
use crate::{Error, Result};

/// An operand B (k, n) that has two equal halves along one of its axes, one of them made from a seed: what changes the
/// kernel's code. The seed itself is a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfSigns {
    /// The axis that is split.
    pub axis: HalvedAxis,
    /// The half that is signs.
    pub half: Half,
    /// Which axis of the matrix of signs, which begins where its half does, is the outer one.
    pub outer: Outer,
    /// The last word of the counters.
    pub tag: u32,
}

/// An axis of operand B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalvedAxis {
    /// Its columns: the axis that the product keeps.
    Outer = 0,
    /// Its rows: the axis that is summed over.
    K = 1,
}

/// One of two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// The one that begins the axis.
    First = 0,
    /// The one that ends it.
    Second = 1,
}

impl HalfSigns {
    /// The shape (k, n) of the whole operand, whose half in memory has this shape.
    fn shape(&self, half: &Layout) -> Result<[usize; 2]> {
        let &[k, n] = half.shape() else {
            let rule = "the half of B that is in memory must be a matrix";
            return Err(Error::shape(OP, rule, half.shape()));
        };
        Ok(match self.axis {
            HalvedAxis::Outer => [k, 2 * n],
            HalvedAxis::K => [2 * k, n],
        })
    }

    /// The whole operand, as it would lie without gaps.
    ///
    /// # Errors
    /// [`Error::Shape`] if the half in memory is no matrix.
    pub(super) fn whole(&self, half: &Layout) -> Result<Layout> {
        Layout::contiguous(OP, &self.shape(half)?)
    }

    /// Binds the operand's loader in the slot where the kernel has its own.
    pub(super) fn bind(&self, kernel: Kernel, slot: &'static str) -> Kernel {
        let rows = match self.outer {
            Outer::Rows => HalvedAxis::Outer,
            Outer::Columns => HalvedAxis::K,
        };
        kernel
            .slot(slot, "half_signs")
            .param("SPLIT_AXIS", self.axis as u32)
            .param("SIGNS_HALF", self.half as u32)
            .param("SIGNS_ROWS", rows as u32)
            .param("TAG", self.tag)
    }
}

impl<T: Real, C: Real> Gemm<'_, T, C> {
    /// The product whose B is half in memory, which is the B that it has, and half signs. Operands of f32 stay so.
    pub(crate) fn half_signs(mut self, signs: HalfSigns, seed: [u32; 2]) -> Self {
        self.product.signs = Some((signs, seed));
        self
    }
}

impl GemmProblem {
    /// The same product, half of whose operand B, which has no batch, is made; the other half lies in memory as `half`
    /// says.
    ///
    /// # Errors
    /// [`Error::Shape`] if that is not half of B; [`Error::Limit`] for strides of $2^{31}$ or more.
    pub fn half_signs(mut self, signs: HalfSigns, half: &Layout) -> Result<Self> {
        let whole = [self.dims.k as usize, self.dims.n as usize];
        if signs.shape(half)? != whole {
            let rule = "the half of B that is in memory must have half of its rows or columns";
            return Err(Error::shapes(OP, rule, half.shape(), &whole));
        }
        // NOTE: the strides of an axis of one element as well: they tell rows from columns, as the whole has them.
        self.dims.b_k = dim(OP, half.strides()[0])?;
        self.dims.b_outer = dim(OP, half.strides()[1])?;
        self.dims.b_offset = half.offset_in_window(self.types.ab);
        [self.dims.b_batch0, self.dims.b_batch1] = [0, 0];
        self.made = Some(Made::Half(signs));
        Ok(self)
    }
}
