//! An input of a run of a replay, as it is remembered between two runs.

use super::part::Part;
use super::pooled_buffer::PooledBuffer;
use super::replay_input::Input;
use super::view::View;
use crate::layout::{DType, Layout};
use std::sync::{Arc, Weak};

/// A tensor that a run reads. It keeps no buffer alive.
pub(super) struct RunInput {
    tensors: Weak<PooledBuffer>,
    pub(super) layout: Layout,
    pub(super) dtype: DType,
    /// The elements.
    pub(super) part: Part,
}

impl RunInput {
    pub(super) fn new(input: &Input) -> Self {
        let Input { tensors, layout, dtype, part, .. } = input;
        Self { tensors: tensors.clone(), layout: *layout, dtype: *dtype, part: part.clone() }
    }

    /// Keeps the buffer from returning to its pool. None if it has returned, because all its tensors were dropped.
    pub(super) fn hold(&self) -> Option<Arc<PooledBuffer>> {
        self.tensors.upgrade()
    }

    /// Whether this is the same tensor, in the same place.
    pub(super) fn is(&self, view: &View<'_>) -> bool {
        let is_same = std::ptr::eq(self.tensors.as_ptr(), Arc::as_ptr(view.pooled()));
        is_same && self.layout == view.layout && self.dtype == view.dtype
    }
}
