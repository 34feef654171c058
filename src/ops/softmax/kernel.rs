//! The kernel of a softmax: `shaders/ops/softmax.wgsl`.

use super::problem::{LANES, SoftmaxDims, SoftmaxProblem};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::subgroups::with_subgroups;
use crate::ops::vectors::{Moves, quads};

impl SoftmaxProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let lanes = kernel::workgroup_size(LANES, caps);
        let kernel = Kernel::new("ops/softmax").dims(caps, size_of::<SoftmaxDims>()).param("LANES", lanes);
        self.softmax(with_subgroups(kernel, caps, LANES), format)
    }

    fn softmax(&self, kernel: Kernel, format: StorageFormat) -> Kernel {
        let access = |width| [OperandAccess::read(format, width), OperandAccess::write(format, width)];
        if self.moves() == Moves::Vectors {
            let [a, c] = access(AccessWidth::Four);
            let kernel = kernel.slot("row", "vectors").param("QUADS", quads(self.dtype));
            return kernel.quads("a", a).quads("c", c);
        }
        let [a, c] = access(AccessWidth::One);
        // Rows of even length begin at pairs, and so does a single row. They are stored in pairs.
        let is_aligned = self.dims.length.is_multiple_of(2) || self.dims.rows == 1;
        if format.elements_per_scalar() == 2 && is_aligned {
            let c = OperandAccess::write(format, AccessWidth::Two);
            return kernel.operand("a", a).result(c).slot("store_quad", "pairs");
        }
        kernel.operand("a", a).result(c)
    }
}
