//! How invocations share the columns of a softmax.

use super::problem::SoftmaxProblem;
use crate::caps::Caps;
use crate::kernel;
use crate::ops::vectors::per_vector;

/// Elements of a column that are compared before their exponentials are added.
pub(super) const COMPARED: u32 = 4;
/// The largest number of invocations of a workgroup that do not share columns.
const MOST_ALONE: u32 = 64;
/// The factor of this number for workgroups that share columns.
const MORE: u32 = 8;
/// Bytes of a row that neighbouring invocations should have, so that they read whole cache lines.
const LINE_BYTES: u32 = 128;
/// Bytes of shared memory that every device has.
const SHARED_BYTES: u32 = 1 << 14;
/// The least number of loads of an invocation that shares its columns.
const LEAST_LOADS: u32 = 4 * COMPARED;

/// The invocations of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// Groups of neighbouring columns.
    pub(super) groups: u32,
    /// The invocations that share a group: a power of two.
    pub(super) parts: u32,
}

impl SoftmaxProblem {
    /// Invocations share columns if there are too few columns to occupy the device, and they are long enough. Otherwise a
    /// workgroup has as many invocations as run side by side.
    pub(super) fn columns_on(&self, caps: &Caps) -> Columns {
        let machine = &caps.machine;
        let alone = machine.vector_lanes.clamp(1, MOST_ALONE);
        let width = 4 * self.quads(caps);
        let there = self.lines.columns().div_ceil(width).saturating_mul(self.lines.rows());
        let wanted = machine.workgroups().saturating_mul(alone);
        let most = kernel::workgroup_size(MORE * alone, caps).min(SHARED_BYTES / (16 * self.known(caps)));
        let Some(shared) = most.checked_ilog2().map(|log| 1 << log) else {
            return Columns { groups: alone, parts: 1 };
        };
        // Neighbours fill a cache line, or there are enough workgroups for all cores.
        let line = (LINE_BYTES / (16 * width / per_vector(self.dtype))).max(1);
        let groups = there.div_ceil(machine.cores.max(1)).max(line).next_power_of_two().min(shared);
        let parts = (wanted / there.max(1)).min(self.lines.length() / LEAST_LOADS);
        if parts < 2 || groups == shared {
            return Columns { groups: alone, parts: 1 };
        }
        // Each invocation of a workgroup has a part of the shared memory, so one kernel serves any number of
        // invocations.
        let parts = parts.next_power_of_two().clamp(2, shared / groups);
        Columns { groups: shared / parts, parts }
    }

    /// The shared memory of a workgroup.
    pub(super) fn columns_bytes(&self, caps: &Caps) -> u32 {
        let columns = self.columns_on(caps);
        if columns.parts > 1 { 16 * self.known(caps) * columns.invocations() } else { 0 }
    }

    /// The vectors of state that an invocation has for its columns.
    fn known(&self, caps: &Caps) -> u32 {
        self.quads(caps) * if self.function.is_backward() { 1 } else { 2 }
    }
}

impl Columns {
    pub(super) fn invocations(self) -> u32 {
        self.groups * self.parts
    }
}
