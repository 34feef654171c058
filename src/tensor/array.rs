//! The tensor: a buffer of a device, and the layout of its elements.

use crate::Result;
use crate::gpu::{Allocation, Gpu, check_same_gpu};
use crate::layout::{Element, Layout};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeBounds};
use std::sync::Arc;

/// Elements of one type on a device: a buffer and a [`Layout`]. Cheap to clone.
///
/// Views ([`t`](Self::t), [`slice`](Self::slice), [`reshape`](Self::reshape), [`permute`](Self::permute)) share
/// the buffer and copy nothing; operations return new tensors. The buffer goes back to the device's pool when the
/// last tensor that shares it is dropped.
pub struct Tensor<T: Element> {
    pub(super) storage: Arc<Allocation>,
    pub(super) layout: Layout,
    element: PhantomData<T>,
}

impl<T: Element> Tensor<T> {
    /// The device that holds the tensor.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        self.storage.gpu()
    }

    /// Shape, strides and offset.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Extent of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Elements from one index to the next along each axis.
    #[must_use]
    pub fn strides(&self) -> &[usize] {
        self.layout.strides()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// The last two axes exchanged: a view. A tensor of fewer than two axes stays as it is.
    #[must_use]
    pub fn t(&self) -> Self {
        self.laid(self.layout.t())
    }

    /// The axes in another order: a view whose axis `i` is axis `axes[i]` of this tensor.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `axes` does not name every axis once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.laid(self.layout.permute(axes)?))
    }

    /// The indices in `range` along one axis: a view.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if there is no such axis, or the range does not lie within it.
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Result<Self> {
        Ok(self.laid(self.layout.slice(axis, range)?))
    }

    /// Another shape for the same elements in row-major order: a view.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the number of elements differs, or the tensor has gaps or transposed axes: a copy
    /// ([`contiguous`](Self::contiguous)) has none.
    pub fn reshape(&self, shape: impl AsRef<[usize]>) -> Result<Self> {
        Ok(self.laid(self.layout.reshape(shape.as_ref())?))
    }

    /// Any view of the buffer: shape, strides and offset in elements from the buffer's start. Strides may be 0
    /// (an axis repeated) or overlap.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if shape and strides differ in length or reach behind the last element of this tensor.
    pub fn as_strided(&self, shape: &[usize], strides: &[usize], offset: usize) -> Result<Self> {
        let span = self.layout.span();
        let layout = Layout::new("as_strided", shape, strides, offset, span.end)?;
        Ok(self.laid(layout))
    }

    /// The tensor's buffer and the range of bytes that the tensor spans, for an application's own shaders, copies and
    /// writes.
    ///
    /// This call submits all recorded launches that use the buffer, including those of dropped tensors that had it before.
    /// So they run before anything that the application submits afterwards. Launches that are recorded later are not
    /// submitted: call [`Gpu::flush`] before submitting work that reads what they write. When the tensor is dropped, its
    /// buffer is not reused for another tensor; it is freed once no work uses it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the device is lost, or if a launch that should have written the tensor has failed and the whole
    /// tensor has not been written since by a launch or an upload of this crate. What an application writes does not count:
    /// where it is to write the tensor, take the buffer of one from [`Gpu::empty`] that no operation has had as its output.
    pub fn buffer(&self) -> Result<(&wgpu::Buffer, Range<u64>)> {
        Ok((self.gpu().export(&self.storage)?, self.bytes()))
    }

    /// Whether both share a buffer.
    #[must_use]
    pub fn shares_buffer<U: Element>(&self, other: &Tensor<U>) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Checks that `other` lives on the same device, and returns that.
    pub(crate) fn same_gpu<U: Element>(&self, op: &'static str, other: &Tensor<U>) -> Result<&Gpu> {
        check_same_gpu(op, self.gpu(), other.gpu())?;
        Ok(self.gpu())
    }

    /// Whether the tensor covers all elements of its storage.
    pub(crate) fn covers_storage(&self) -> bool {
        self.layout.is_contiguous() && self.bytes() == (0..self.storage.len())
    }

    /// A tensor on a fresh allocation.
    pub(super) fn on(storage: Allocation, layout: Layout) -> Self {
        Self { storage: Arc::new(storage), layout, element: PhantomData }
    }

    pub(super) fn laid(&self, layout: Layout) -> Self {
        Self { storage: self.storage.clone(), layout, element: PhantomData }
    }

    /// The same tensor, where `U` is `T` though the compiler cannot know.
    pub(crate) fn retyped<U: Element>(&self) -> Tensor<U> {
        Tensor { storage: self.storage.clone(), layout: self.layout, element: PhantomData }
    }

    pub(super) fn bytes(&self) -> Range<u64> {
        self.layout.bytes(T::DTYPE)
    }
}

impl<T: Element> Clone for Tensor<T> {
    fn clone(&self) -> Self {
        self.laid(self.layout)
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{}>({:?}, {:?})", T::DTYPE, self.layout, self.gpu())
    }
}
