//! A launch before it is recorded.

use super::bound_window::BoundWindow;
use super::pipeline::Pipeline;
use crate::plan::{Plan, Scalar};
use std::sync::Arc;

/// A launch to record, or to capture.
pub(super) struct NewLaunch<'a> {
    pub(super) plan: &'a Plan,
    /// Index of the plan's step that the launch runs.
    pub(super) step: usize,
    pub(super) pipeline: Arc<Pipeline>,
    /// Windows of the operands, in the order in which the shader declares them.
    pub(super) bound: Vec<BoundWindow>,
    pub(super) dims: &'a [u8],
    /// Pairs of a byte offset in `dims` and the index in `values` of the scalar to write there.
    pub(super) scalars: &'a [(usize, usize)],
    pub(super) values: &'a [Scalar],
    pub(super) grid: [u32; 3],
    /// The failures that had been reported when its operands were checked.
    pub(super) reports: u64,
    /// Predicted seconds.
    pub(super) seconds: f64,
}

impl NewLaunch<'_> {
    /// Appends the dims to `to`, with the scalars written into them.
    pub(super) fn append_dims(&self, to: &mut Vec<u8>) {
        let from = to.len();
        to.extend_from_slice(self.dims);
        for &(offset, index) in self.scalars {
            let at = from + offset;
            to[at..at + 4].copy_from_slice(&self.values[index].bits().to_ne_bytes());
        }
    }
}
