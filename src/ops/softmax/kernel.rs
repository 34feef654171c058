//! The kernels of softmax: `shaders/ops/softmax.wgsl` and, for gradients, `shaders/ops/softmax_backward.wgsl`. Both have a variant
//! for columns, `*_columns.wgsl`.

use super::columns::COMPARED;
use super::problem::{SoftmaxDims, SoftmaxProblem};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::lines::Across;
use crate::ops::subgroups::{lanes_of_row, with_subgroups};
use crate::ops::vectors::Moves;

/// Invocations per workgroup along rows, if the device allows them.
pub(super) const LANES: u32 = 256;
/// Groups of four elements that an invocation holds.
const KEPT_QUADS: u32 = 4;

impl SoftmaxProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let is_backward = self.function.is_backward();
        let kernel = match (self.lines.across, is_backward) {
            (Across::Row, false) => Kernel::new("ops/softmax"),
            (Across::Row, true) => Kernel::new("ops/softmax_backward"),
            (Across::Columns, false) => Kernel::new("ops/softmax_columns"),
            (Across::Columns, true) => Kernel::new("ops/softmax_backward_columns"),
        };
        let kernel = kernel.dims::<SoftmaxDims>(caps).param("QUADS", self.quads(caps));
        let kernel = match self.lines.across {
            Across::Row => {
                let kernel = kernel.param("EVEN", self.is_even(caps));
                with_subgroups(kernel.param("LANES", kernel::workgroup_size(LANES, caps)), caps, LANES)
            }
            Across::Columns => {
                let columns = self.columns_on(caps);
                let kernel = kernel.param("LANES", columns.invocations());
                if columns.parts > 1 {
                    kernel.slot("column_parts", "several").param("RANGES", caps.machine.is_software())
                } else {
                    kernel
                }
            }
        };
        let kernel = match (self.lines.across, is_backward) {
            (Across::Columns, true) => kernel,
            _ => kernel.param("GROUPS", self.groups(caps)),
        };
        let form = if is_backward { "softmax_gradient" } else { "softmax_form" };
        let kernel = if self.function.is_logarithm() { kernel.slot(form, "logarithms") } else { kernel };
        let kernel = self.second(self.moved(kernel, caps), caps);
        if is_backward || self.m.is_none() { kernel } else { kernel.slot("softmax_mask", "added") }
    }

    /// The invocations that share a row.
    pub(super) fn lanes(&self, caps: &Caps) -> u32 {
        let groups = self.lines.length().div_ceil(4 * self.quads(caps));
        let most = lanes_of_row(caps, LANES, self.lines.rows());
        groups.div_ceil(self.groups(caps)).max(1).next_power_of_two().min(most)
    }

    /// Whether all lanes of a row have complete groups, in a multiple of the number that they hold.
    fn is_even(&self, caps: &Caps) -> bool {
        let kept = 4 * self.quads(caps) * self.groups(caps);
        self.lines.length().is_multiple_of(kept * self.lanes(caps))
    }

    /// The number of groups of a row that an invocation holds, or the number of elements of each of its columns that it
    /// compares together.
    pub(super) fn groups(&self, caps: &Caps) -> u32 {
        match self.lines.across {
            Across::Row => KEPT_QUADS / self.quads(caps),
            Across::Columns => COMPARED,
        }
    }

    /// How the operand and the result are accessed.
    fn moved(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let read = |width| OperandAccess::read(format, width);
        if self.moves() == Moves::Vectors {
            let c = OperandAccess::write(format, AccessWidth::Four);
            let kernel = kernel.slot("row_of_a", "vectors").slot("row_store", "vectors");
            return kernel.quads("a", read(AccessWidth::Four)).quads("c", c);
        }
        let kernel = kernel.operand("a", read(AccessWidth::One));
        if format.elements_per_scalar() == 2 && self.lines.stores_pairs() {
            let c = OperandAccess::write(format, AccessWidth::Two);
            return kernel.result(c).slot("store_quad", "pairs");
        }
        kernel.result(OperandAccess::write(format, AccessWidth::One))
    }

    /// How the mask or the gradient is read.
    fn second(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        match (self.m, self.moves()) {
            (None, _) => kernel,
            (Some(_), Moves::Vectors) if self.function.is_backward() => {
                let access = OperandAccess::read(format, AccessWidth::Four);
                kernel.slot("row_of_m", "vectors").quads("m", access)
            }
            (Some(_), _) => kernel.operand("m", OperandAccess::read(format, AccessWidth::One)),
        }
    }
}
