//! The kernel of a cross-entropy: `shaders/ops/cross_entropy.wgsl`.

use super::problem::{CrossEntropyDims, CrossEntropyProblem, TargetKind};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::known;
use crate::ops::loss::reduction::LossGradient;
use crate::ops::loss::total::row_lanes;
use crate::ops::vectors::{Moves, quads};

/// The results of a launch over the logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The losses, and the gradient if there is one.
    Whole,
    /// The losses alone, with few bindings.
    Losses,
    /// The gradient alone, with few bindings.
    Gradient,
}

impl CrossEntropyProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, form: Form, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let kernel = Kernel::new("ops/cross_entropy").dims::<CrossEntropyDims>(caps);
        let kernel = row_lanes(kernel, caps);
        let kernel = match self.targets.0 {
            TargetKind::Classes => kernel,
            TargetKind::Probabilities => kernel
                .slot("labels", "probabilities")
                .operand("p", OperandAccess::read(format, AccessWidth::One)),
        };
        let kernel = match form {
            Form::Whole => kernel,
            Form::Losses => kernel.slot("row_numbers", "joined").slot("row_results", "joined"),
            Form::Gradient => {
                kernel.slot("row_numbers", "joined").slot("row_results", "none").param("C_BINDING", 3)
            }
        };
        let has_gradient = self.gradient == LossGradient::Computed && form != Form::Losses;
        if self.moves() == Moves::Vectors {
            let kernel = kernel
                .slot("logits", "vectors")
                .param("QUADS", quads(self.dtype))
                .quads("a", OperandAccess::read(format, AccessWidth::Four));
            return if has_gradient {
                let c = OperandAccess::write(format, AccessWidth::Four);
                kernel.slot("store_gradients", "vectors").quads("c", c)
            } else {
                kernel
            };
        }
        let kernel = kernel.operand("a", OperandAccess::read(format, AccessWidth::One));
        if !has_gradient {
            return kernel;
        }
        let kernel = kernel.slot("store_gradients", "strided");
        // The rows of the gradient begin at multiples of the classes.
        let [classes, rows] = self.sizes();
        let row = (rows > 1).then(|| known(classes));
        kernel.quad_result(OperandAccess::write_pairs_or_elements(format, [], row))
    }
}
