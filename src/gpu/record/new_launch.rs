//! A launch before it is recorded.

use crate::gpu::buffers::bound_window::BoundWindow;
use crate::gpu::kernels::pipeline::Pipeline;
use crate::plan::{Plan, Scalar};
use std::sync::Arc;

/// A launch to record, or to capture.
pub(in crate::gpu) struct NewLaunch<'a> {
    pub(in crate::gpu) plan: &'a Plan,
    /// Index of the plan's step that the launch runs.
    pub(in crate::gpu) step: usize,
    pub(in crate::gpu) pipeline: Arc<Pipeline>,
    /// Windows of the operands, in the order in which the shader declares them.
    pub(in crate::gpu) bound: Vec<BoundWindow>,
    pub(in crate::gpu) dims: &'a [u8],
    /// Pairs of a byte offset in `dims` and the index in `values` of the scalar to write there.
    pub(in crate::gpu) scalars: &'a [(usize, usize)],
    pub(in crate::gpu) values: &'a [Scalar],
    pub(in crate::gpu) grid: [u32; 3],
    /// The failures that had been reported when its operands were checked.
    pub(in crate::gpu) reports: u64,
    /// Predicted seconds.
    pub(in crate::gpu) seconds: f64,
}

impl NewLaunch<'_> {
    /// Appends the dims to `to`, with the scalars written into them.
    pub(in crate::gpu) fn append_dims(&self, to: &mut Vec<u8>) {
        let from = to.len();
        to.extend_from_slice(self.dims);
        for &(offset, index) in self.scalars {
            let at = from + offset;
            to[at..at + 4].copy_from_slice(&self.values[index].bits().to_ne_bytes());
        }
    }
}
