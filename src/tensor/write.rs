//! Writing into tensors: who may, and what an error in the middle leaves.

use super::array::Tensor;
use crate::gpu::View;
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::sync::Arc;

impl<T: Element> Tensor<T> {
    /// Checks that nobody else sees the buffer, so that it may be overwritten.
    pub(crate) fn check_unshared(&self, op: &'static str) -> Result<()> {
        match Arc::strong_count(&self.storage) {
            1 => Ok(()),
            holders => {
                let why =
                    format!("its buffer is shared with {} other tensors (clones or views)", holders - 1);
                Err(Error::input(format!("{op}: the output"), why))
            }
        }
    }

    /// Whether others see the buffer.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.storage) > 1
    }

    /// Lets `write` see a part of the tensor as if that were all: there is no second holder of the buffer meanwhile.
    pub(crate) fn narrowed<R>(&mut self, part: Layout, write: impl FnOnce(&mut Self) -> R) -> R {
        let whole = std::mem::replace(&mut self.layout, part);
        let written = write(self);
        self.layout = whole;
        written
    }

    /// Runs `write`, which may launch several kernels that write to the tensor. If it fails between them, what they leave
    /// is an error to read.
    pub(crate) fn write_with<R>(&self, write: impl FnOnce(View<'_>) -> Result<R>) -> Result<R> {
        self.written_from(self.storage.begin_write(), self.as_view(), write)
    }

    /// As [`write_with`](Self::write_with), where every element is written and none is read.
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
