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
            let kernel = if caps.machine.runs_in_turn() { kernel.param("ROWS_APART", true) } else { kernel };
            kernel.require_subgroup_size(size)
        }
    }
}

/// Bytes of shared memory in which each subgroup of a workgroup of `lanes` invocations has a value of `bytes` bytes.
pub(crate) fn shared_bytes(caps: &Caps, lanes: u32, bytes: u32) -> u32 {
    (bytes * kernel::workgroup_size(lanes, caps) / subgroup(caps, lanes).unwrap_or(1)).next_multiple_of(16)
}

/// The invocations whose vectors are one line of a processor's cache.
const LANES_OF_LINE: u32 = 4;
/// Rows that occupy a processor.
const MANY_ROWS: u32 = 1024;

/// The most invocations that should share one of `rows` rows. On software devices a barrier costs more than what the invocations of
/// further subgroups save, because it suspends and continues each of them. Those of a subgroup wait for each other's loads, so it
/// should read several rows, from pages of memory that the processor fetches ahead side by side.
pub(crate) fn lanes_of_row(caps: &Caps, lanes: u32, rows: u32) -> u32 {
    if !caps.machine.runs_in_turn() {
        return kernel::workgroup_size(lanes, caps);
    }
    let all = subgroup(caps, lanes).unwrap_or(1);
    if rows < MANY_ROWS { all } else { all.min(LANES_OF_LINE) }
}
