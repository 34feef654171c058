//! The lanes of a workgroup that combine their values: the slot `row_lanes`.

use crate::caps::Caps;
use crate::kernel::{self, Kernel};

/// Invocations per workgroup, if the device allows them.
pub(super) const LANES: u32 = 256;

/// The subgroup size of a device, if it has one only and workgroups consist of whole subgroups.
fn subgroup(caps: &Caps) -> Option<u32> {
    let lanes = kernel::workgroup_size(LANES, caps);
    let sizes = caps.subgroups.filter(|sizes| sizes.min == sizes.max)?;
    (sizes.min > 1 && sizes.min.is_power_of_two() && sizes.min <= lanes).then_some(sizes.min)
}

/// The kernel with its number of lanes, and the variant of the slot for the device.
pub(super) fn row_lanes(kernel: Kernel, caps: &Caps) -> Kernel {
    let kernel = kernel.param("LANES", kernel::workgroup_size(LANES, caps));
    match subgroup(caps) {
        None => kernel,
        Some(size) => {
            kernel.slot("row_lanes", "subgroups").param("SUBGROUP", size).require_subgroup_size(size)
        }
    }
}

/// Bytes of shared memory with a value for each subgroup.
pub(super) fn workgroup_bytes(caps: &Caps) -> u32 {
    (4 * kernel::workgroup_size(LANES, caps) / subgroup(caps).unwrap_or(1)).next_multiple_of(16)
}
