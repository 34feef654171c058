//! The kernels of cumulative sums: `shaders/ops/cumsum.wgsl` along rows, `shaders/ops/cumsum_columns.wgsl` for columns.

use super::problem::{CumsumDims, CumsumProblem};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::lines::Across;
use crate::ops::vectors::Moves;

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
        let (is_vectors, pairs) = (self.moves() == Moves::Vectors, self.lines.stores_pairs());
        let width = if is_vectors { AccessWidth::Four } else { AccessWidth::One };
        let read = OperandAccess::read(format, width);
        let kernel = if is_vectors {
            kernel.slot("row_of_a", "vectors").quads("a", read)
        } else {
            kernel.operand("a", read)
        };
        let kernel = match stage {
            Stage::Whole => kernel,
            Stage::Rest => kernel.slot("cumsum_output", "rest"),
            Stage::Totals => return kernel.slot("cumsum_output", "totals").param("c_unit", "f32"),
        };
        if is_vectors {
            return kernel.slot("row_store", "vectors").quads("c", OperandAccess::write(format, width));
        }
        if format.elements_per_scalar() == 2 && pairs {
            return kernel.result(OperandAccess::write(format, AccessWidth::Two)).slot("store_quad", "pairs");
        }
        kernel.result(OperandAccess::write(format, AccessWidth::One))
    }

    /// The number of groups that an invocation holds.
    pub(super) fn groups(&self) -> u32 {
        KEPT_QUADS / self.quads()
    }
}
