//! The kernels of softmax: `shaders/ops/softmax.wgsl` and, for gradients, `shaders/ops/softmax_backward.wgsl`. Both have a variant
//! for columns, `*_columns.wgsl`.

use super::columns::COMPARED;
use super::problem::{SoftmaxDims, SoftmaxProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, StorageFormat};
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
        let kernel = self.moves().read_row(kernel, ["row_of_a", "a"], format);
        self.moves().store_row(kernel, self.lines.write_elements(format))
    }

    /// How the mask or the gradient is read.
    fn second(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        match (self.m, self.function.is_backward()) {
            (None, _) => kernel,
            (Some(_), true) => self.moves().read_row(kernel, ["row_of_m", "m"], format),
            (Some(_), false) => Moves::Elements.read_row(kernel, ["row_of_m", "m"], format),
        }
    }
}
