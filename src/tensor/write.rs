//! Writes into tensors: the check for unique ownership, and errors between two launches.

use super::array::{Tensor, Writers};
use crate::gpu::View;
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::sync::Arc;

impl<T: Element> Tensor<T> {
    /// Checks that the tensor may be overwritten: that its buffer is uniquely owned, or that it is a writable view.
    pub(crate) fn check_unshared(&self, op: &'static str) -> Result<()> {
        match (self.writers, Arc::strong_count(&self.storage)) {
            (Writers::AnyView, _) | (_, 1) => Ok(()),
            (Writers::SoleOwner, holders) => {
                let others = holders - 1;
                let tensors = if others == 1 { "tensor" } else { "tensors" };
                let why = format!(
                    "its buffer is shared with {others} other {tensors} (clones, views, or other tensors of one buffer); \
                     if they may see what is written, pass a `writable_view`"
                );
                Err(Error::input(format!("{op}: the output"), why))
            }
        }
    }

    /// Whether another tensor shares the buffer.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.storage) > 1
    }

    /// Runs `write` with the tensor's layout temporarily narrowed to one part. The buffer stays uniquely owned.
    pub(crate) fn write_part<R>(&mut self, part: Layout, write: impl FnOnce(&mut Self) -> R) -> R {
        let whole = std::mem::replace(&mut self.layout, part);
        let written = write(self);
        self.layout = whole;
        written
    }

    /// Runs `write`, which may launch several kernels that write to the tensor. If it fails between two launches,
    /// reading the tensor is an error from then on.
    pub(crate) fn write_with<R>(&self, write: impl FnOnce(View<'_>) -> Result<R>) -> Result<R> {
        self.written_from(self.storage.begin_write(), self.as_view(), write)
    }

    /// As [`write_with`](Self::write_with), for a `write` that writes every element and reads none.
    pub(crate) fn overwrite_with<R>(&self, write: impl FnOnce(View<'_>) -> Result<R>) -> Result<R> {
        let begun = self.storage.begin_write();
        let view = self.as_view().overwritten_from(self.covers_storage().then_some(begun));
        self.written_from(begun, view, write)
    }

    fn written_from<'a, R>(
        &'a self,
        begun: u64,
        view: View<'a>,
        write: impl FnOnce(View<'a>) -> Result<R>,
    ) -> Result<R> {
        write(view).inspect_err(|error| {
            if self.storage.is_written_since(begun) {
                self.storage.fail(error);
            }
        })
    }
}
