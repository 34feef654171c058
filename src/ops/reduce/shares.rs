//! How invocations share the terms of a reduction on a device.

use super::problem::{Across, ReduceDims, ReduceProblem, Steps};
use crate::caps::Caps;
use crate::ops::subgroups::lanes_of_row;
use crate::ops::vectors::per_vector;

/// Invocations per workgroup along lines, if the device allows them.
pub(super) const LANES: u32 = 256;
/// Invocations per workgroup for columns.
pub(super) const COLUMN_LANES: u32 = 64;

/// Workgroups that occupy a device, if each invocation loads several vectors.
const MANY_WORKGROUPS: u32 = 256;
/// The least number of loads of an invocation if the terms of a result are cut into parts.
const LOADS_OF_PART: u32 = 16;
/// The least number of loads of an invocation that are worth a second launch.
const LOADS_WORTH_PARTS: u32 = 128;
/// The number of loads of an invocation up to which further invocations do not share a row.
pub(super) const LOADS_OF_LANE: u32 = 4;
/// Bytes of a page of memory: a processor prefetches within each page that it reads, not beyond.
const PAGE_BYTES: u64 = 4096;
/// Invocations that occupy a processor.
const MANY_LANES: u32 = 4096;

impl ReduceProblem {
    /// The uniform of the first step.
    pub(super) fn dims_on(&self, caps: &Caps) -> ReduceDims {
        let d = self.dims;
        // The number of parts that multiplies the existing invocations to `wanted`. An invocation of a part has at
        // least `least` loads.
        let parts_of = |wanted: u32, there: u32, loads: u32, least: u32| {
            let parts = (wanted / there.max(1)).min(loads / least).max(1);
            if loads < LOADS_WORTH_PARTS || self.steps == Steps::One { 1 } else { parts }
        };
        match self.across {
            Across::Line => {
                let most = lanes_of_row(caps, LANES, d.rows);
                let loads = d.length.div_ceil(4 * self.moves().quads(self.dtype)) * d.lines;
                let lanes = if caps.machine.is_software() {
                    self.lanes_in_ranges(loads)
                } else {
                    loads.div_ceil(LOADS_OF_LANE).next_power_of_two()
                };
                let lanes = lanes.min(most);
                let parts = if lanes == most {
                    parts_of(MANY_WORKGROUPS, d.rows, loads / most, LOADS_OF_PART)
                } else {
                    1
                };
                ReduceDims { lanes, parts, ..d }
            }
            Across::Columns => {
                let lanes = d.axes[0][0].div_ceil(4 * self.quads(caps));
                // The state of a part has at most a sixteenth of the bytes of its elements.
                let words = self.function.combination(self.dtype).words;
                let least = LOADS_OF_PART.max(4 * words * per_vector(self.dtype));
                let parts =
                    parts_of(MANY_WORKGROUPS * COLUMN_LANES, lanes * d.rows, d.length * d.lines, least);
                ReduceDims { lanes, parts, ..d }
            }
        }
    }

    /// The invocations that share a row of this many loads on a processor: one for each page of memory, or more if these would
    /// not occupy it.
    fn lanes_in_ranges(&self, loads: u32) -> u32 {
        let d = &self.dims;
        let bytes = u64::from(d.length) * u64::from(d.lines) * self.dtype.size() as u64;
        let pages = u32::try_from(bytes / PAGE_BYTES).expect("an operand has fewer bytes than 2^33");
        let shared = (MANY_LANES / d.rows.max(1)).min(loads / LOADS_OF_LANE);
        pages.max(shared).max(1).next_power_of_two()
    }
}
