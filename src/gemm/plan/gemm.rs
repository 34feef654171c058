//! The plan of a matrix product.

use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, OP};
use crate::plan::{Draft, Plan, Problem, Region, Trial, distinct};
use crate::{Error, Result};

impl Problem for GemmProblem {
    /// The candidate that is predicted to be the fastest: a tile of a kernel, and a number of splits. With
    /// [`Precision::Fast`](crate::Precision::Fast) or [`Precision::Split`](crate::Precision::Split), f32 operands are first split
    /// into f16. If an operand cannot be bound as a whole, the product is cut into panels.
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
