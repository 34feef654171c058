//! The plan of a convolution of volumes.

use super::problem::ConvProblem;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::GemmProblem;
use crate::layout::Layout;
use crate::ops::copy::problem::CopyProblem;
use crate::plan::{Draft, Plan, Problem, Region};

impl ConvProblem {
    /// The product, of volumes after a copy of a residual with gaps.
    pub(super) fn product_of_copies(&self) -> Result<Option<GemmProblem>> {
        match self.product()? {
            None if !self.geometry.is_of_images() => self.without_gaps()?.product(),
            product => Ok(product),
        }
    }

    /// The same with a residual without gaps.
    fn without_gaps(&self) -> Result<Self> {
        let residual = self.residual.map(|residual| Layout::contiguous(self.op, residual.shape()));
        Ok(Self { residual: residual.transpose()?, ..*self })
    }

    /// The plan of the product, for which a residual with gaps is copied first.
    pub(super) fn plan_of_volumes(&self, caps: &Caps) -> Result<Option<Plan>> {
        if let Some(product) = self.product()? {
            return self.product_plan(&product, caps).map(Some);
        }
        let without_gaps = self.without_gaps()?;
        let Some(product) = without_gaps.product()? else { return Ok(None) };
        let mut draft = Draft::new(self.op, &[], caps);
        let mut operands: Vec<Region> =
            draft.operands(&self.operands()?).into_iter().map(|(region, _)| region).collect();
        // The residual is the last before the result.
        let at = operands.len() - 2;
        let from = operands[at];
        operands[at] = draft.temporary(from.layout.shape(), self.dtype)?;
        let copy = CopyProblem::new(&from.layout, &operands[at].layout, self.dtype)?;
        draft.call(copy.plan(caps)?, &[operands[at], from], &[])?;
        draft.call(without_gaps.product_plan(&product, caps)?, &operands, &[])?;
        Ok(Some(draft.finish()))
    }
}
