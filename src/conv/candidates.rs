//! The candidates of a convolution, and how they are tried.

use super::problem::{ConvKernels, ConvProblem, OP};
use crate::Result;
use crate::caps::Caps;
use crate::gemm::GemmProblem;
use crate::ops::Activation;
use crate::plan::{Plan, Problem, Trial, distinct};
use std::fmt;

impl ConvProblem {
    /// The plan, then those of each tile and number of splits of the product and of the direct kernel, as far as they are allowed, in the
    /// order of predicted time.
    pub(super) fn all_plans(&self, caps: &Caps) -> Result<Vec<Plan>> {
        let by = |kernels| self.by(kernels).plan(caps);
        // Images in parts, or with too many windows for a product, have none as a whole.
        let restricted = match self.product_of_copies() {
            Ok(Some(product)) if self.kernels != ConvKernels::Direct => {
                product.restricted(caps).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let products =
            restricted.iter().map(|GemmProblem { pin, split, .. }| by(ConvKernels::Product(*pin, *split)));
        let direct = (self.kernels == ConvKernels::Any && self.geometry.is_of_images())
            .then(|| by(ConvKernels::Direct));
        let mut plans = distinct(std::iter::once(self.plan(caps)).chain(products).chain(direct))?;
        plans[1..].sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        Ok(plans)
    }

    /// The trial: products are compared with the direct kernel, which reads each window by itself, and those of volumes with the simplest
    /// of them. None if there is no product.
    pub(super) fn trial_of_products(&self, caps: &Caps) -> Result<Option<Trial>> {
        let Ok(Some(product)) = self.product_of_copies() else { return Ok(None) };
        let reference = if self.geometry.is_of_images() {
            ConvKernels::Direct
        } else {
            let Some(GemmProblem { pin, split, .. }) = product.simplest(caps)? else { return Ok(None) };
            ConvKernels::Product(pin, split)
        };
        let reference = self.by(reference).plan(caps)?;
        // The images and the weight come first in both, and the others have the same values.
        product.trial_against(self.to_string(), reference).map(Some)
    }
}

/// `conv2d 4x56x56x64 by 64x3x3x64, stride 2x2, f16, bias, silu`: the extents, the type, and the epilogue.
impl fmt::Display for ConvProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.op == OP {
            write!(f, "{OP} {}, {}", self.geometry.of_plane(), self.dtype)?;
        } else {
            write!(f, "{} {}, {}", self.op, self.geometry, self.dtype)?;
        }
        let words = [
            (self.bias.is_some(), "bias"),
            (self.scale_shift.is_some(), "scale and shift"),
            (self.residual.is_some(), "residual"),
        ];
        words.iter().filter(|(is_there, _)| *is_there).try_for_each(|(_, word)| write!(f, ", {word}"))?;
        match self.activation {
            Activation::None => Ok(()),
            activation => write!(f, ", {activation}"),
        }
    }
}
