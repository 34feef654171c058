//! An input of a replay: a tensor that another one can take the place of.

use crate::gpu::buffers::bound_window::BoundWindow;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::pooled_buffer::PooledBuffer;
use crate::gpu::buffers::storage::Storage;
use crate::layout::{DType, Layout, window};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The function that errors name.
const OP: &str = "Replay::run";

/// A tensor that the launches of a replay read.
#[derive(Clone)]
pub(in crate::gpu) struct ReplayInput {
    pub(in crate::gpu) storage: Arc<Storage>,
    /// The tensors' end of the storage. Without it, the buffer may belong to others.
    pub(in crate::gpu) tensors: Weak<PooledBuffer>,
    pub(in crate::gpu) layout: Layout,
    pub(in crate::gpu) dtype: DType,
    /// The elements.
    pub(in crate::gpu) part: Part,
    /// The aligned bytes that contain the elements.
    window: Range<u64>,
}

impl ReplayInput {
    pub(in crate::gpu) fn new(pooled: &Arc<PooledBuffer>, layout: Layout, dtype: DType) -> Self {
        let (storage, tensors) = (pooled.storage().clone(), Arc::downgrade(pooled));
        let bytes = layout.bytes(dtype);
        let (part, window) = (Part::within(bytes.clone(), &layout, dtype), window(bytes));
        Self { storage, tensors, layout, dtype, part, window }
    }

    /// The same input in `storage`, which takes the place of the captured one.
    pub(in crate::gpu) fn in_place_of(&self, storage: Arc<Storage>) -> Self {
        Self { storage, ..self.clone() }
    }

    /// Whether a launch binds this input.
    pub(in crate::gpu) fn has(&self, bound: &BoundWindow) -> bool {
        Arc::ptr_eq(&self.storage, &bound.storage)
    }

    /// Whether an operand lies in the same storage, and has elements that are not this input's.
    ///
    /// NOTE: windows do not tell, because they begin and end at aligned places, and contain gaps.
    pub(in crate::gpu) fn is_left_by(&self, operand: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.storage, &operand.storage);
        is_same && !(self.dtype == operand.dtype && self.layout.contains(&operand.layout))
    }

    /// The window in which `other` has the elements that `bound` contains of this one.
    pub(in crate::gpu) fn moved(&self, bound: &BoundWindow, other: &Self) -> BoundWindow {
        let start = bound.window.start - self.window.start + other.window.start;
        BoundWindow::new(other.storage.clone(), start..start + bound.bytes(), bound.access)
    }

    /// Where the elements lie.
    pub(in crate::gpu) fn place(&self) -> (wgpu::Buffer, u64) {
        (self.storage.buffer.clone(), self.window.start)
    }

    /// Whether the elements lie there.
    pub(in crate::gpu) fn is_at(&self, (buffer, start): &(wgpu::Buffer, u64)) -> bool {
        self.storage.buffer == *buffer && self.window.start == *start
    }

    /// Fails unless the replay can read `given` in place of this input, number `at`.
    pub(in crate::gpu) fn check(&self, at: usize, given: &Self) -> Result<()> {
        let named = |why: String| Error::input(format!("{OP}: input {at}"), why);
        if given.dtype != self.dtype {
            return Err(named(format!("it was captured as {}, not {}", self.dtype, given.dtype)));
        }
        if given.layout.shape() != self.layout.shape() {
            let rule = "an input must have the shape that it was captured with";
            return Err(Error::shapes(OP, rule, given.layout.shape(), self.layout.shape()));
        }
        if !self.layout.has_same_strides(&given.layout, self.dtype) {
            let (given, captured) = (given.layout, self.layout);
            return Err(named(format!(
                "its strides, or its place in its buffer modulo 256 bytes, are not those that it was captured with: \
                 {given:?}, not {captured:?}; copy it into a tensor of its own"
            )));
        }
        Ok(())
    }
}
