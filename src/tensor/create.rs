//! Making tensors: from data, from nothing, at random.

use super::array::Tensor;
use crate::gpu::{Allocation, Gpu};
use crate::layout::{Element, Fill, Layout};
use crate::{Error, Result};

impl Gpu {
    /// Uploads `data`, row-major, as a tensor of this shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shape has another number of elements than `data`, or more than 6 axes;
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if there is no room.
    pub fn tensor<T: Element>(&self, data: &[T], shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        let layout = Layout::contiguous("tensor", shape.as_ref())?;
        if layout.len() != data.len() {
            let rule = "the data must have as many elements as the shape";
            return Err(Error::shapes("tensor", rule, &[data.len()], shape.as_ref()));
        }
        Ok(Tensor::on(self.upload("tensor", bytemuck::cast_slice(data))?, layout))
    }

    /// A tensor whose elements are unspecified until something is written into it.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn empty<T: Element>(&self, shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        let layout = Layout::contiguous("empty", shape.as_ref())?;
        let bytes = layout.len() as u64 * T::DTYPE.size() as u64;
        Ok(Tensor::on(self.allocate("empty", bytes)?, layout))
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn zeros<T: Element>(&self, shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        self.filled("zeros", shape.as_ref(), |_, _| ())
    }

    /// A tensor of random values: element $i$ depends on the seed and $i$ alone.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn random<T: Element>(&self, shape: impl AsRef<[usize]>, fill: Fill, seed: u64) -> Result<Tensor<T>> {
        self.filled("random", shape.as_ref(), |start, elements| {
            for (i, element) in (start..).zip(elements) {
                *element = fill.value(i, seed);
            }
        })
    }

    /// A tensor that the host makes chunk by chunk, row-major: each call fills the elements from a place on, which are zeros
    /// at first, and then what the call before has left. There is room for the tensor before the first call.
    pub(crate) fn filled<T: Element>(
        &self,
        op: &'static str,
        shape: &[usize],
        fill: impl FnMut(u64, &mut [T]),
    ) -> Result<Tensor<T>> {
        let layout = Layout::contiguous(op, shape)?;
        Ok(Tensor::on(self.upload_chunks(op, layout.len(), fill)?, layout))
    }
}

impl<T: Element> Tensor<T> {
    /// The elements that a plan has put in a new buffer, row-major ([`Gpu::make`]).
    pub(crate) fn made(allocation: Allocation, shape: impl AsRef<[usize]>) -> Result<Self> {
        let made = Self::on(allocation, Layout::contiguous("made", shape.as_ref())?);
        debug_assert!(made.is_empty() || made.covers_storage(), "{:?}", made.shape());
        Ok(made)
    }
}
