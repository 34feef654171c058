//! Tensors in the buffers of an application.

use super::array::Tensor;
use crate::gpu::Gpu;
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::ops::{Bound, RangeBounds};

impl<T: Element> Tensor<T> {
    /// A row-major tensor in an application's buffer. Nothing is copied, and no memory is allocated.
    ///
    /// `bytes` is the range of the elements in the buffer, in bytes. Without an end, the range ends with the shape's
    /// elements, so `..` is the beginning of a larger buffer. The buffer may hold other data next to it: no operation
    /// changes bytes outside the range, except through a view of [`as_strided`](Self::as_strided), which counts from the
    /// start of the buffer.
    ///
    /// # The buffer
    /// - It was created on the device of `gpu` ([`Gpu::device`]), with `BufferUsages::STORAGE`, and it is not mapped. It
    ///   has neither `MAP_READ` nor `MAP_WRITE`.
    /// - With `COPY_SRC`, reads such as [`to_vec`](Self::to_vec) copy from it directly. Without, they copy the elements by
    ///   a kernel first. [`write`](Self::write) needs `COPY_DST`.
    /// - The range begins at a multiple of the element's size. The buffer's size is at least the end of the range, rounded
    ///   up to a multiple of 16, because kernels read whole units of 16 bytes. They access nothing beyond.
    /// - The sizes in [`Stats`](crate::gpu::Stats) do not include it, and it is never reused for other tensors. It is
    ///   freed when the application and all tensors have dropped it.
    ///
    /// # Order
    /// Operations of this crate run in the order of the queue, as for any tensor. They see what the application has
    /// submitted before the operation is submitted. This includes `write_buffer`, which runs before the next submission of
    /// anyone: call [`Gpu::flush`] *before* `write_buffer` if a recorded operation must not see it. The application's
    /// later submissions see the results of work that was recorded before [`Gpu::flush`] or [`buffer`](Self::buffer).
    /// Tilewise does not track accesses to the buffer by the application, or by another adoption of the device, so it
    /// reports no errors about them.
    ///
    /// # Several tensors of one buffer
    /// They are views of one storage, even if their ranges do not overlap: an operation that writes one of them cannot
    /// read another, and a uniquely owned output has no other tensor in its buffer. To write one of them, pass a
    /// [`writable_view`](Self::writable_view) of it. A launch that fails to write one of them makes reading any of them an
    /// error, until one operation writes the whole buffer, or all of them are dropped. The same holds for a buffer that
    /// [`buffer`](Self::buffer) returned.
    ///
    /// # Errors
    /// [`Error::Input`] if the buffer or the range is not as described; [`Error::Gpu`] if the buffer belongs to another
    /// device; [`Error::Shape`] if the shape has more than 6 axes; [`Error::Device`] if the device is lost. If the
    /// application destroys the buffer later, operations on the tensor fail as launches do: reading their results is an
    /// error.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Tensor, ops, wgpu::{BufferDescriptor, BufferUsages}};
    ///
    /// // A buffer of the application: a header of 16 bytes, then six numbers.
    /// let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::VERTEX;
    /// let buffer = gpu.device().create_buffer(&BufferDescriptor { label: None, size: 48, usage, mapped_at_creation: false });
    /// gpu.queue().write_buffer(&buffer, 16, bytemuck::cast_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]));
    ///
    /// let points = Tensor::<f32>::from_buffer(&gpu, buffer, 16.., [2, 3])?;
    /// assert_eq!(ops::add(&points, &points)?.to_vec()?, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_buffer(
        gpu: &Gpu,
        buffer: wgpu::Buffer,
        bytes: impl RangeBounds<u64>,
        shape: impl AsRef<[usize]>,
    ) -> Result<Self> {
        let op = "from_buffer";
        let layout = Layout::contiguous(op, shape.as_ref())?;
        let size = T::DTYPE.size() as u64;
        let start = match bytes.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let wrong = |why: String| Err(Error::input(format!("{op}: the range"), why));
        if !start.is_multiple_of(size) {
            let dtype = T::DTYPE;
            return wrong(format!(
                "it begins at byte {start}, which is no multiple of {size}, the size of {dtype}"
            ));
        }
        let taken = layout.len() as u64 * size;
        let end = match bytes.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => start.saturating_add(taken),
        };
        if end.checked_sub(start) != Some(taken) {
            let (dtype, shape) = (T::DTYPE, layout.shape());
            return wrong(format!(
                "{taken} bytes are needed for shape {shape:?} of {dtype}, not {start}..{end}"
            ));
        }
        let storage = gpu.storage_in(op, &buffer, start..end)?;
        let offset = usize::try_from(start / size).map_err(Error::device)?;
        Ok(Self::on(storage, layout.at(layout.strides(), offset)))
    }
}
