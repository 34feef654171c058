//! A product as a device computes it: whether its operands can be bound as a whole, and whether they are split into f16.

use super::panels::Panels;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, OP, Scale, scratch_bytes};
use crate::kernel;
use crate::layout::Precision;

impl GemmProblem {
    /// The product as this device computes it, and its panels, if an operand cannot be bound as a whole. If the device lacks
    /// the bindings or the memory that an f16 split needs, the product is computed in f32, which is more precise than
    /// requested.
    pub(super) fn on_device(&self, caps: &Caps) -> Result<(Self, Option<Panels>)> {
        let strict = self.precision(Precision::Strict);
        if !self.is_f16_split() {
            return Ok((strict, strict.panels(caps)?));
        }
        let scaled = if self.precision == Precision::Split { 3 } else { 2 };
        let is_bound = 2 + self.extra_bindings() + scaled <= caps.limits.storage_bindings;
        match self.panels(caps) {
            Ok(panels) if is_bound => Ok((*self, panels)),
            _ => Ok((strict, strict.panels(caps)?)),
        }
    }

    /// The panels of the product, if an operand cannot be bound as a whole. Products with generated or scaled operands cannot
    /// be cut.
    fn panels(&self, caps: &Caps) -> Result<Option<Panels>> {
        // Exponents and cross terms belong to whole operands.
        let is_whole =
            self.generated.is_some() || matches!(self.epilogue.scale, Scale::Back | Scale::BackWithCross);
        match self.check_bound(caps) {
            Ok(()) if is_whole || Panels::own_fits(self, caps) => Ok(None),
            Err(limit) if is_whole => Err(limit),
            _ => Panels::new(self, caps).map(Some),
        }
    }

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
        for of in self.operands()? {
            kernel::check_binding(OP, caps, of.layout.span().end as u64, of.dtype)?;
        }
        kernel::check_scratch(OP, caps, self.sums_bytes(caps))
    }
}
