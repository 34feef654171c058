//! The kernels of cumulative sums: `shaders/ops/cumsum.wgsl` along rows, `shaders/ops/cumsum_columns.wgsl` for columns.

use super::problem::{CumsumDims, CumsumProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, StorageFormat};
use crate::ops::lines::Across;

/// Invocations per workgroup along rows, if the device allows them.
pub(super) const LANES: u32 = 256;
/// Invocations per workgroup for columns.
pub(super) const COLUMN_LANES: u32 = 64;
/// Groups of four elements that an invocation holds.
const KEPT_QUADS: u32 = 4;

/// What a step stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The results, of whole rows.
    Whole,
    /// The sums of the parts of rows.
    Totals,
    /// The results, after the sums of earlier parts.
    Rest,
}

impl CumsumProblem {
    /// The kernel of a step on a device.
    pub(super) fn kernel(&self, stage: Stage, caps: &Caps) -> Kernel {
        let kernel = match self.lines.across {
            Across::Row => Kernel::new("ops/cumsum")
                .param("LANES", kernel::workgroup_size(LANES, caps))
                .param("GROUPS", self.groups()),
            Across::Columns => Kernel::new("ops/cumsum_columns").param("LANES", COLUMN_LANES),
        };
        let kernel = kernel.dims::<CumsumDims>(caps).param("QUADS", self.quads());
        let format = StorageFormat::of(self.dtype, caps);
        let moves = self.moves();
        let kernel = moves.read_row(kernel, ["row_of_a", "a"], format);
        let kernel = match stage {
            Stage::Whole => kernel,
            Stage::Rest => kernel.slot("cumsum_output", "rest"),
            Stage::Totals => return kernel.slot("cumsum_output", "totals").param("c_unit", "f32"),
        };
        moves.store_row(kernel, self.lines.write_elements(format))
    }

    /// The number of groups that an invocation holds.
    pub(super) fn groups(&self) -> u32 {
        KEPT_QUADS / self.quads()
    }
}
