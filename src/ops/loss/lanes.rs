//! The lanes of a workgroup that combine their values: the slot `row_lanes`.

use crate::caps::Caps;
use crate::kernel::{self, Kernel};
use crate::ops::subgroups::{subgroup, with_subgroups};

/// Invocations per workgroup, if the device allows them.
pub(super) const LANES: u32 = 256;

/// The kernel with its number of lanes, and the variant of the slot for the device.
pub(super) fn row_lanes(kernel: Kernel, caps: &Caps) -> Kernel {
    with_subgroups(kernel.param("LANES", kernel::workgroup_size(LANES, caps)), caps, LANES)
}

/// Bytes of shared memory with a value for each subgroup.
pub(super) fn workgroup_bytes(caps: &Caps) -> u32 {
    (4 * kernel::workgroup_size(LANES, caps) / subgroup(caps, LANES).unwrap_or(1)).next_multiple_of(16)
}
