//! The plan of a matrix product.

use super::panels::Panels;

use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, OP, Scale, scratch_bytes};
use crate::kernel;
use crate::layout::Precision;
use crate::plan::{Draft, Plan, Problem, Region, Trial, distinct};
use crate::{Error, Result};

impl Problem for GemmProblem {
    /// The candidate that is predicted to be the fastest: a tile of a kernel, and a number of splits. With
    /// [`Precision::Fast`] or [`Precision::Split`], f32 operands are first split into f16. If an operand cannot be bound as a
    /// whole, the product is cut into panels.
    ///
    /// Operands: A, B, C; the seed of a generated operand, if a tensor holds it; the bias, the residual and the scales of rows and
    /// columns, if the product has them. In place of a generated operand, the plan has the table of its entries. Scalars: alpha
    /// unless it is 1, beta unless it is 0, the scale of a result of i8, and the seed of a generated operand unless a tensor holds
    /// it.
    ///
    /// # Errors
    /// [`Error::Input`] if the types do not go with the epilogue; [`Error::Limit`] if not even a panel can be bound; [`Error::Unsupported`] if the device cannot run any candidate that
    /// the pin allows.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        if self.segments().is_some() {
            return Err(Error::input(OP, "a product over segments is planned with its table"));
        }
        self.check_types()?;
        let mut draft = Draft::new(OP, &self.scalars(), caps);
        let operands: Vec<Region> = self.operands()?.iter().map(|of| draft.add(of).0).collect();
        if self.elements() == 0 {
            return Ok(draft.finish());
        }
        let (product, panels) = self.on_device(caps)?;
        match panels {
            Some(panels) => product.panel_steps(&mut draft, &panels, &operands)?,
            None => product.add_steps(&mut draft, &operands)?,
        }
        Ok(draft.finish())
    }

    /// The [`plan`](Self::plan), with a reason for every kernel that it passed over.
    fn explain(&self, caps: &Caps) -> Result<Plan> {
        Ok(self.plan(caps)?.because(self.reasons(caps)?))
    }

    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        distinct(self.restricted(caps)?.iter().map(|restricted| restricted.plan(caps)))
    }

    fn trial(&self, caps: &Caps) -> Result<Option<Trial>> {
        self.stored_trial(caps)
    }
}

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
            Ok(()) if is_whole || Panels::own_fits(self, caps)? => Ok(None),
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
