//! The kernel of a loss of elements: `shaders/ops/loss.wgsl`.

use super::function::LossFunction;
use super::problem::{LossDims, LossMoves, LossProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::{DType, known};
use crate::ops::loss::reduction::{LossGradient, Reduction};
use crate::ops::loss::total::row_lanes;
use crate::ops::vectors::quads;

impl LossProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let kernel = Kernel::new("ops/loss").dims::<LossDims>(caps);
        let kernel = row_lanes(kernel, caps).param("REDUCED", self.reduction != Reduction::None);
        let kernel = match self.function {
            LossFunction::Mse => kernel,
            function => kernel.slot("loss_function", function.op()),
        };
        let gradient = match self.gradient {
            LossGradient::Computed => Some(()),
            LossGradient::Skipped => None,
        };
        let weights = StorageFormat::of(DType::F32, caps);
        let moves = self.moves();
        if moves == LossMoves::Elements {
            let one = |kernel: Kernel, name, format| {
                kernel.operand(name, OperandAccess::read(format, AccessWidth::One))
            };
            let kernel = one(one(one(kernel, "a", format), "b", format), "w", weights);
            if gradient.is_none() {
                return kernel;
            }
            let kernel = kernel.slot("store_gradients", "strided").param("C_BINDING", 5);
            // Rows of even length begin at pairs, and so does a single row. Their elements are stored in pairs.
            let row = (self.axes().len() > 1).then(|| known(self.row()));
            return kernel.quad_result(OperandAccess::write_pairs_or_elements(format, [], row));
        }
        let four = |format| OperandAccess::read(format, AccessWidth::Four);
        let kernel = kernel
            .slot("loss_operands", "vectors")
            .param("QUADS", quads(self.dtype))
            .quads("a", four(format))
            .quads("b", four(format));
        let kernel = if moves == LossMoves::Vectors {
            kernel.slot("loss_weights", "repeated").param("w_unit", "f32")
        } else {
            kernel.slot("loss_weights", "vectors").param("w_unit", "vec4<f32>")
        };
        match gradient {
            None => kernel,
            Some(()) => kernel
                .slot("store_gradients", "vectors")
                .param("C_BINDING", 5)
                .quads("c", OperandAccess::write(format, AccessWidth::Four)),
        }
    }
}
