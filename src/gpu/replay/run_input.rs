//! An input of a run of a replay, as it is remembered between two runs.

use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::pooled_buffer::PooledBuffer;
use crate::gpu::record::replay_input::ReplayInput;
use crate::gpu::views::view::View;
use crate::layout::{DType, Layout};
use std::sync::{Arc, Weak};

/// A tensor that a run reads. It keeps no buffer alive.
pub(in crate::gpu) struct RunInput {
    tensors: Weak<PooledBuffer>,
    pub(in crate::gpu) layout: Layout,
    pub(in crate::gpu) dtype: DType,
    /// The elements.
    pub(in crate::gpu) part: Part,
}

impl RunInput {
    pub(in crate::gpu) fn new(input: &ReplayInput) -> Self {
        let ReplayInput { tensors, layout, dtype, part, .. } = input;
        Self { tensors: tensors.clone(), layout: *layout, dtype: *dtype, part: part.clone() }
    }

    /// Keeps the buffer from returning to its pool. None if it has returned, because all its tensors were dropped.
    pub(in crate::gpu) fn hold(&self) -> Option<Arc<PooledBuffer>> {
        self.tensors.upgrade()
    }

    /// Whether this is the same tensor, in the same place.
    pub(in crate::gpu) fn is(&self, view: &View<'_>) -> bool {
        let is_same = std::ptr::eq(self.tensors.as_ptr(), Arc::as_ptr(view.pooled()));
        is_same && self.layout == view.layout && self.dtype == view.dtype
    }
}
