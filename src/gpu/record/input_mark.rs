//! Marks of the tensors that the closure of a `capture` makes of its inputs without a copy.
//!
//! A run reads other tensors in place of the inputs. But the buffer of a tensor that the closure has returned cannot be
//! exchanged: the tensor would show the captured input in every run. So each clone and view of an input has a mark, and
//! the capture fails if one is left when the closure has ended. Only the capturing thread's are marked.

use super::replay_input::ReplayInput;
use crate::gpu::buffers::storage::Storage;
use crate::{Error, Result};
use std::sync::Arc;

/// Held by a tensor that was made in the closure of a `capture` and shows an input, and by its clones and views.
#[derive(Clone, Default)]
pub(crate) struct InputMark(Arc<()>);

/// An input of a capture whose closure is running.
pub(in crate::gpu) struct MarkedInput {
    at: usize,
    storage: Arc<Storage>,
    mark: InputMark,
}

impl MarkedInput {
    /// The inputs that have elements. Until these are dropped, tensors that are made of them are marked.
    pub(in crate::gpu) fn all(inputs: &[ReplayInput]) -> Vec<Self> {
        let with_elements = inputs.iter().enumerate().filter(|(_, input)| !input.layout.is_empty());
        let marked = with_elements.map(|(at, input)| {
            input.storage.marked_by(1);
            Self { at, storage: input.storage.clone(), mark: InputMark::default() }
        });
        marked.collect()
    }

    /// The mark for a tensor of this storage, if it is this input's.
    pub(in crate::gpu) fn mark_of(&self, storage: &Arc<Storage>) -> Option<InputMark> {
        Arc::ptr_eq(&self.storage, storage).then(|| self.mark.clone())
    }

    /// Fails if a tensor still exists that the closure has made of the input without a copy.
    pub(in crate::gpu) fn check(&self, op: &'static str) -> Result<()> {
        if Arc::strong_count(&self.mark.0) == 1 {
            return Ok(());
        }
        let why = "what the closure returns or keeps shows it: a clone or a view, as `t`, `reshape`, `contiguous` and `cast` \
                   to the same type return. It would show this tensor in every run, whatever is passed to `run`. Take the \
                   view of the tensor that you pass to `run`, or return a copy (`ops::copy_into`)";
        Err(Error::input(format!("{op}: input {}", self.at), why))
    }
}

impl Drop for MarkedInput {
    fn drop(&mut self) {
        self.storage.marked_by(-1);
    }
}
