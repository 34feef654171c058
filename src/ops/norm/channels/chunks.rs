//! The chunks of rows of a norm of channels on a device.

use super::problem::{ChannelDims, ChannelProblem, LANES};
use crate::caps::Caps;
use crate::kernel;

impl ChannelProblem {
    /// The invocations of a workgroup along the channels.
    fn lanes(&self, caps: &Caps) -> u32 {
        let groups = self.dims.channels.div_ceil(4 * self.quads());
        groups.next_power_of_two().min(kernel::workgroup_size(LANES, caps))
    }

    /// The rows that a workgroup takes together.
    pub(super) fn rows_in_turn(&self, caps: &Caps) -> u32 {
        kernel::workgroup_size(LANES, caps) / self.lanes(caps) * self.turn()
    }

    /// The uniform for a device: few enough rows in a chunk to occupy it.
    pub(super) fn dims_on(&self, caps: &Caps) -> ChannelDims {
        let d = &self.dims;
        let lanes = self.lanes(caps);
        let groups = d.channels.div_ceil(4 * self.quads());
        let busy = caps.machine.workgroups().max(1);
        let others = u64::from(d.outer) * u64::from(groups.div_ceil(lanes));
        let wanted = u32::try_from(u64::from(busy).div_ceil(others)).unwrap_or(1);
        let turns = d.inner.div_ceil(self.rows_in_turn(caps));
        let usual = turns.div_ceil(wanted.min(turns).max(1)) * self.rows_in_turn(caps);
        let each = if d.each > 0 { d.each } else { usual };
        ChannelDims { lanes, each, chunks: d.inner.div_ceil(each), ..*d }
    }

    /// Rows of partial sums.
    pub(super) fn partial_rows(&self, caps: &Caps) -> usize {
        self.dims.outer as usize * self.dims_on(caps).chunks as usize
    }
}
