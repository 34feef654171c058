//! The tensor: a buffer of a device, and the layout of its elements.

use crate::Result;
use crate::gpu::{Allocation, Gpu, InputMark, View, check_same_gpu};
use crate::layout::{Element, Layout};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeBounds};
use std::sync::Arc;

/// Elements of one type on a device: a buffer and a [`Layout`]. Cheap to clone.
///
/// Views ([`t`](Self::t), [`slice`](Self::slice), [`reshape`](Self::reshape), [`permute`](Self::permute),
/// [`squeeze`](Self::squeeze), [`unsqueeze`](Self::unsqueeze), [`broadcast_to`](Self::broadcast_to)) share the
/// buffer and copy nothing; operations return new tensors. The buffer returns to the device's pool when the last tensor
/// that shares it is dropped.
pub struct Tensor<T: Element> {
    pub(super) storage: Arc<Allocation>,
    pub(super) layout: Layout,
    pub(super) writers: Writers,
    /// Present if the tensor is an input of a capture, and was created in its closure.
    mark: Option<InputMark>,
    element: PhantomData<T>,
}

/// The tensors of a buffer that may be the output of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writers {
    /// A tensor that owns the buffer alone.
    SoleOwner,
    /// This tensor, although others share the buffer ([`Tensor::writable_view`]).
    AnyView,
    /// This tensor, which has the buffer of the tensor that [`Tensor::assign`] writes to, and no other.
    Lent,
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

    /// Stride of each axis in elements.
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

    /// Exchanges the last two axes; a view. A tensor of fewer than two axes stays as it is.
    #[must_use]
    pub fn t(&self) -> Self {
        self.with_layout(self.layout.t())
    }

    /// Reorders the axes; a view. Axis `i` of the result is axis `axes[i]` of this tensor.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `axes` does not name every axis once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.with_layout(self.layout.permute(axes)?))
    }

    /// Selects the indices in `range` along one axis; a view.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the axis does not exist, or the range exceeds it.
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Result<Self> {
        Ok(self.with_layout(self.layout.slice(axis, range)?))
    }

    /// Gives the same elements, in row-major order, another shape; a view.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the number of elements differs, or if the tensor has gaps or transposed
    /// axes; a copy ([`contiguous`](Self::contiguous)) has neither.
    pub fn reshape(&self, shape: impl AsRef<[usize]>) -> Result<Self> {
        Ok(self.with_layout(self.layout.reshape(shape.as_ref())?))
    }

    /// Removes an axis of extent 1; a view.
    ///
    /// Its gradient is [`unsqueeze`](Self::unsqueeze) of the result's gradient along the same axis.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the axis does not exist, or its extent is not 1.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let x = gpu.zeros::<f32>([3, 1, 2])?;
    /// assert_eq!(x.squeeze(1)?.shape(), [3, 2]);
    /// assert!(x.squeeze(0).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn squeeze(&self, axis: usize) -> Result<Self> {
        Ok(self.with_layout(self.layout.squeeze(axis)?))
    }

    /// Inserts an axis of extent 1, which becomes axis `axis` of the result; a view.
    ///
    /// Its gradient is [`squeeze`](Self::squeeze) of the result's gradient along the same axis.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `axis` is larger than the number of axes, or there are 6 axes already.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let means = gpu.tensor(&[1.0f32, 2.0], [2])?;
    /// let x = gpu.tensor(&[1.0f32, 3.0, 2.0, 2.0], [2, 2])?;
    /// let centred = (&x - &means.unsqueeze(1)?)?; // a column, which broadcasts along the rows
    /// assert_eq!(centred.to_vec()?, [0.0, 2.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn unsqueeze(&self, axis: usize) -> Result<Self> {
        Ok(self.with_layout(self.layout.unsqueeze(axis)?))
    }

    /// Repeats the elements along axes of extent 1, and along new leading axes, as in `NumPy`; a view. Axes are counted
    /// from the last, and repeated ones have stride 0, so nothing is copied. Such a view is an operand like any other, but
    /// operations cannot write to it, because its elements overlap.
    ///
    /// Its gradient is the sum of the result's gradient over the repeated axes: one [`ops::sum`](crate::ops::sum) for
    /// each axis, and [`unsqueeze`](Self::unsqueeze) if this tensor has the axis.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) unless each axis has the extent of `shape` or 1; if `shape` has fewer axes than
    /// this tensor, or more than 6; or if the number of elements overflows.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let column = gpu.tensor(&[1, 2], [2, 1])?;
    /// let table = column.broadcast_to([2, 2, 3])?;
    /// assert_eq!(table.strides(), [0, 1, 0]);
    /// assert_eq!(table.to_vec()?, [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast_to(&self, shape: impl AsRef<[usize]>) -> Result<Self> {
        Ok(self.with_layout(self.layout.broadcast_to(shape.as_ref())?))
    }

    /// Any view of the buffer: shape, strides and offset in elements from the buffer's start. Strides may be 0 (the
    /// axis repeats its elements), and elements may overlap.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if shape and strides differ in length, or an element is after the last
    /// element of this tensor.
    pub fn as_strided(&self, shape: &[usize], strides: &[usize], offset: usize) -> Result<Self> {
        let span = self.layout.span();
        let layout = Layout::new("as_strided", shape, strides, offset, span.end)?;
        Ok(self.with_layout(layout))
    }

    /// The same elements as an output that operations may write although other tensors share the buffer; a view. Its
    /// views and clones are writable too.
    ///
    /// Functions such as [`assign`](Self::assign), [`ops::copy_into`](crate::ops::copy_into) and [`write`](Self::write) otherwise take only an output that owns its buffer alone, because all tensors of the
    /// buffer see the new elements. This call says that they may:
    /// - The recorded order decides. An operation or read that was recorded before a write sees the earlier contents; one
    ///   that is recorded later sees the new ones. Threads that record at the same time must agree on the order, and one
    ///   operation may be several launches.
    /// - One operation cannot read and write the same buffer, even if the parts do not overlap: that is an error. The
    ///   exception are operations in place, such as [`ops::add_assign`](crate::ops::add_assign).
    /// - If a launch that writes a part fails, reading any tensor of the buffer is an error, until an operation writes the
    ///   whole buffer.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::matmul;
    ///
    /// let cache = gpu.zeros::<f32>([3, 2])?; // rows that are computed one by one
    /// let (x, weight) = (gpu.tensor(&[1.0f32, 1.0], [1, 2])?, gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?);
    /// cache.slice(0, 1..2)?.writable_view().assign(|| matmul(&x, &weight))?;
    /// assert_eq!(cache.to_vec()?, [0.0, 0.0, 4.0, 6.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn writable_view(&self) -> Self {
        Self { writers: Writers::AnyView, ..self.clone() }
    }

    /// The tensor's buffer and the range of bytes that the tensor spans, for an application's own shaders, copies and
    /// writes.
    ///
    /// This call submits all recorded launches that use the buffer, including those of dropped tensors that used it
    /// before. So these launches run before any work that the application submits afterwards. Launches that are
    /// recorded later are not submitted: call [`Gpu::flush`] before submitting work that reads their results. When the
    /// tensor is dropped, its buffer is not reused for another tensor; it is freed once no work uses it.
    ///
    /// For an output of [`Gpu::record_into`] this call is an error until the application has submitted the encoder. To
    /// bind the output in the same frame, call it once before the frame, for an output of [`Gpu::empty_with`], or create
    /// the output with [`from_buffer`](Self::from_buffer): the buffer of a tensor never changes.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if unsubmitted commands of the application write the tensor;
    /// [`Error::Device`](crate::Error::Device) if the device is lost, or if a launch that should have written the
    /// tensor has failed and no launch or upload of this crate has written the whole tensor since. An application's
    /// writes do not count. If an application is to write the tensor, use a tensor from [`Gpu::empty`] that has not
    /// been the output of any operation.
    pub fn buffer(&self) -> Result<(&wgpu::Buffer, Range<u64>)> {
        Ok((self.gpu().export(&self.storage, (&self.layout, T::DTYPE))?, self.bytes()))
    }

    /// Whether both tensors share a buffer.
    #[must_use]
    pub fn shares_buffer<U: Element>(&self, other: &Tensor<U>) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Checks that `other` is on the same device, and returns the device.
    pub(crate) fn same_gpu<U: Element>(&self, op: &'static str, other: &Tensor<U>) -> Result<&Gpu> {
        check_same_gpu(op, self.gpu(), other.gpu())?;
        Ok(self.gpu())
    }

    /// The buffer and its device.
    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.storage
    }

    /// As an operand.
    pub(crate) fn as_view(&self) -> View<'_> {
        View::new(&self.storage, self.layout, T::DTYPE)
    }

    /// Whether the tensor covers all elements of its storage.
    pub(crate) fn covers_storage(&self) -> bool {
        self.layout.is_contiguous() && self.bytes() == (0..self.storage.len())
    }

    /// A tensor that uniquely owns a new allocation.
    pub(crate) fn from_allocation(storage: Allocation, layout: Layout) -> Self {
        Self::on(Arc::new(storage), layout)
    }

    /// A tensor that shares an allocation.
    pub(super) fn on(storage: Arc<Allocation>, layout: Layout) -> Self {
        let mark = storage.input_mark();
        Self { storage, layout, writers: Writers::SoleOwner, mark, element: PhantomData }
    }

    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        let mark = self.storage.input_mark().or_else(|| self.mark.clone());
        Self { storage: self.storage.clone(), layout, mark, ..*self }
    }

    /// Converts the type of the tensor from `T` to `U`. Both are the same type, though the compiler cannot know that.
    pub(crate) fn assume_type<U: Element>(&self) -> Tensor<U> {
        let same = Tensor::on(self.storage.clone(), self.layout);
        let mark = same.mark.clone().or_else(|| self.mark.clone());
        Tensor { mark, ..same }
    }

    pub(crate) fn bytes(&self) -> Range<u64> {
        self.layout.bytes(T::DTYPE)
    }
}

impl<T: Element> Clone for Tensor<T> {
    fn clone(&self) -> Self {
        self.with_layout(self.layout)
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{}>({:?}, {:?})", T::DTYPE, self.layout, self.gpu())
    }
}
