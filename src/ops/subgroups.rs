//! How the lanes of a workgroup exchange values: within subgroups, if a device has subgroups of one size.

use crate::caps::Caps;
use crate::kernel::{self, Kernel};

/// The subgroup size of a device, if it has one only and workgroups of `lanes` invocations consist of whole subgroups.
pub(crate) fn subgroup(caps: &Caps, lanes: u32) -> Option<u32> {
    let lanes = kernel::workgroup_size(lanes, caps);
    let sizes = caps.subgroups.filter(|sizes| sizes.min == sizes.max)?;
    (sizes.min > 1 && sizes.min.is_power_of_two() && sizes.min <= lanes).then_some(sizes.min)
}

/// The kernel with the slot `row_lanes` for a device.
pub(crate) fn with_subgroups(kernel: Kernel, caps: &Caps, lanes: u32) -> Kernel {
    match subgroup(caps, lanes) {
        None => kernel,
        Some(size) => {
            let kernel = kernel.slot("row_lanes", "subgroups").param("SUBGROUP", size);
            let kernel = if caps.machine.is_software() { kernel.param("ROWS_APART", true) } else { kernel };
            kernel.require_subgroup_size(size)
        }
    }
}

/// Bytes of shared memory for a workgroup of `lanes` invocations: each subgroup has a value of `bytes` bytes.
pub(crate) fn shared_bytes(caps: &Caps, lanes: u32, bytes: u32) -> u32 {
    (bytes * kernel::workgroup_size(lanes, caps) / subgroup(caps, lanes).unwrap_or(1)).next_multiple_of(16)
}

/// The number of invocations whose vectors fill one cache line of a processor.
const LANES_OF_LINE: u32 = 4;
/// Rows that occupy a processor.
const MANY_ROWS: u32 = 1024;

/// The largest number of invocations that should share one of `rows` rows. On software devices a barrier costs more time than
/// further subgroups save, because it suspends and resumes each of them. The invocations of a subgroup wait for each other's loads,
/// so a subgroup should read several rows: the processor prefetches in the memory pages of all these rows at the same time.
pub(crate) fn lanes_of_row(caps: &Caps, lanes: u32, rows: u32) -> u32 {
    if !caps.machine.is_software() {
        return kernel::workgroup_size(lanes, caps);
    }
    let all = subgroup(caps, lanes).unwrap_or(1);
    if rows < MANY_ROWS { all } else { all.min(LANES_OF_LINE) }
}
