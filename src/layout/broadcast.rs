//! Operands that broadcast to an output, and outputs whose elements do not overlap.

use super::strided::{Layout, MAX_RANK};
use crate::{Error, Result};

impl Layout {
    /// The strides along the axes of an output `c`, 0 where this operand is broadcast.
    ///
    /// # Errors
    /// [`Error::Shape`] unless each axis, counted from the last, has the extent of `c` or 1.
    pub(crate) fn broadcast_strides(&self, op: &'static str, c: &Self) -> Result<[usize; MAX_RANK]> {
        let mut strides = [0; MAX_RANK];
        let rule = "the operands must have the output's shape, or extents of 1";
        let wrong = || Error::shapes(op, rule, self.shape(), c.shape());
        let missing = c.rank().checked_sub(self.rank()).ok_or_else(wrong)?;
        for (axis, (&extent, &stride)) in self.shape().iter().zip(self.strides()).enumerate() {
            match (extent, c.shape()[missing + axis]) {
                (1, _) => {}
                (m, n) if m == n => strides[missing + axis] = stride,
                _ => return Err(wrong()),
            }
        }
        Ok(strides)
    }

    /// Checks that no two indices refer to the same element. It suffices for views of tensors: sorted by stride, each axis must
    /// step over the whole span of the smaller strides.
    ///
    /// # Errors
    /// [`Error::Shape`] if elements may overlap.
    pub(crate) fn check_no_overlap(&self, op: &'static str) -> Result<()> {
        let axes = self.strides().iter().zip(self.shape()).filter(|&(_, &extent)| extent > 1);
        let mut axes: Vec<(usize, usize)> = axes.map(|(&stride, &extent)| (stride, extent)).collect();
        axes.sort_unstable();
        let mut span = 0; // from the first element to the last, so far
        for (stride, extent) in axes {
            if stride <= span {
                let rule = "the output's elements must not overlap";
                return Err(Error::shapes(op, rule, self.shape(), self.strides()));
            }
            span += (extent - 1) * stride;
        }
        Ok(())
    }
}
