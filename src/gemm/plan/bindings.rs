//! The check that a device can bind every operand of a product as a whole.

use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, OP, Operand, scratch_bytes};
use crate::kernel;

impl GemmProblem {
    /// Bytes of the sums that every plan needs: those of the requested splits, or of one split if a second launch applies the
    /// epilogue; 0 otherwise.
    fn sums_bytes(&self, caps: &Caps) -> u64 {
        let splits = self.requested_splits();
        if splits == 1 && !self.has_separate_epilogue(caps) { 0 } else { scratch_bytes(self, splits) }
    }

    /// Checks that the device can bind every operand as a whole, and the sums of the splits.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if it cannot.
    pub(in crate::gemm) fn check_bound(&self, caps: &Caps) -> Result<()> {
        for Operand { layout, dtype, .. } in self.operands()? {
            kernel::check_binding(OP, caps, layout.span().end as u64, dtype)?;
        }
        kernel::check_scratch(OP, caps, self.sums_bytes(caps))
    }
}
