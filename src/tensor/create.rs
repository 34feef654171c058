//! Creates tensors: from data, uninitialised, or of zeros.

use super::array::Tensor;
use crate::error::Named;
use crate::gpu::Gpu;
use crate::layout::{Element, Fill, Layout, Real};
use crate::{Error, Result};
use std::future::Future;

impl Gpu {
    /// Uploads `data`, row-major, as a tensor of this shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shape's number of elements differs from that of `data`, or if it has more than 6 axes;
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if there is not enough memory.
    pub fn tensor<T: Element>(&self, data: &[T], shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        let layout = Layout::contiguous("tensor", shape.as_ref())?;
        if layout.len() != data.len() {
            let rule = "the data must have as many elements as the shape";
            return Err(Error::shapes("tensor", rule, &[data.len()], shape.as_ref()));
        }
        Ok(Tensor::from_allocation(self.upload("tensor", bytemuck::cast_slice(data))?, layout))
    }

    /// As [`tensor`](Self::tensor), through bounded staging memory ([`GpuOptions::staging_bytes`]), without blocking.
    /// Data that are larger than the bound are copied in pieces: the future fills a piece while the device copies the
    /// previous one.
    ///
    /// The copies are recorded while the future runs, after everything that was recorded before. If all staging memory is in
    /// use, the future submits what is recorded and waits, under any executor, until the device has copied the oldest
    /// elements. On a device that was adopted with [`Polling::Application`](crate::gpu::Polling::Application), it continues
    /// when the application polls.
    ///
    /// [`GpuOptions::staging_bytes`]: crate::GpuOptions::staging_bytes
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let data: Vec<f32> = (0..1000u16).map(f32::from).collect();
    /// let x = pollster::block_on(gpu.upload_async(&data, [10, 100]))?;
    /// assert_eq!(x.to_vec()?, data);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// As [`tensor`](Self::tensor); [`Error::Input`] in the closure of [`capture`](Self::capture); [`Error::Device`] if the
    /// device is lost.
    pub fn upload_async<'a, T: Element, S: AsRef<[usize]>>(
        &self,
        data: &'a [T],
        shape: S,
    ) -> impl Future<Output = Result<Tensor<T>>> + use<'a, T, S> {
        let op = "upload_async";
        let (gpu, layout) = (self.clone(), Layout::contiguous(op, shape.as_ref()));
        async move {
            let layout = layout?;
            if layout.len() != data.len() {
                let rule = "the data must have as many elements as the shape";
                return Err(Error::shapes(op, rule, &[data.len()], layout.shape()));
            }
            Ok(Tensor::from_allocation(gpu.upload_staged(op, data).await.named(op)?, layout))
        }
    }

    /// Creates a tensor of one element that never changes, in the closure of `capture` too.
    pub(crate) fn constant_tensor<T: Element>(&self, value: T) -> Result<Tensor<T>> {
        self.constant_vector(&[value])
    }

    /// Creates a tensor of one axis that never changes, in the closure of `capture` too.
    pub(crate) fn constant_vector<T: Element>(&self, values: &[T]) -> Result<Tensor<T>> {
        let layout = Layout::contiguous("tensor", &[values.len()])?;
        Ok(Tensor::from_allocation(self.upload_constant("tensor", bytemuck::cast_slice(values))?, layout))
    }

    /// Creates a tensor with unspecified elements.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn empty<T: Element>(&self, shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        let layout = Layout::contiguous("empty", shape.as_ref())?;
        let bytes = layout.len() as u64 * T::DTYPE.size() as u64;
        Ok(Tensor::from_allocation(self.allocate("empty", bytes)?, layout))
    }

    /// Creates a tensor with unspecified elements, in a buffer with further usages: for example, `VERTEX` or `INDIRECT`,
    /// to draw a result or to launch by it. Every tensor's buffer has `STORAGE`, `COPY_SRC` and `COPY_DST`. This one is
    /// created by the call and never reused for other tensors.
    ///
    /// # Errors
    /// [`Error::Input`] if `usages` contains `MAP_READ` or `MAP_WRITE`; [`Error::Device`] if the device does not allow the
    /// usages; otherwise as [`tensor`](Self::tensor).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{ops, wgpu::BufferUsages};
    ///
    /// let step = gpu.tensor(&[1.0f32; 6], [3, 2])?;
    /// let mut points = gpu.empty_with::<f32>([3, 2], BufferUsages::VERTEX)?;
    /// points.assign(|| ops::add(&step, &step))?;
    /// let (vertices, bytes) = points.buffer()?; // submits; then, in a render pass:
    /// # let _ = stringify! {
    /// pass.set_vertex_buffer(0, vertices.slice(bytes));
    /// # };
    /// # assert!(vertices.usage().contains(BufferUsages::VERTEX) && bytes == (0..24));
    /// # Ok(())
    /// # }
    /// ```
    pub fn empty_with<T: Element>(
        &self,
        shape: impl AsRef<[usize]>,
        usages: wgpu::BufferUsages,
    ) -> Result<Tensor<T>> {
        let op = "empty_with";
        let layout = Layout::contiguous(op, shape.as_ref())?;
        if usages.intersects(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE) {
            let why = "no kernel may run while the host maps the buffer: use `to_vec`, `read` and `write`";
            return Err(Error::input(format!("{op}: the usages MAP_READ and MAP_WRITE"), why));
        }
        let bytes = layout.len() as u64 * T::DTYPE.size() as u64;
        Ok(Tensor::from_allocation(self.allocate_with(op, bytes, usages)?, layout))
    }

    /// Creates a tensor of zeros.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn zeros<T: Element>(&self, shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        self.filled("zeros", shape.as_ref(), |_, _| ())
    }

    /// Creates a row-major tensor that the host generates chunk by chunk, after its buffer has been allocated. Each
    /// call of `fill` receives the index of its first element and the chunk. The first chunk contains zeros; each later
    /// one contains the values that the previous call left.
    pub(crate) fn filled<T: Element>(
        &self,
        op: &'static str,
        shape: &[usize],
        fill: impl FnMut(u64, &mut [T]),
    ) -> Result<Tensor<T>> {
        let layout = Layout::contiguous(op, shape)?;
        Ok(Tensor::from_allocation(self.upload_chunks(op, layout.len(), fill)?, layout))
    }

    /// Independent numbers, uniform in $\pm$ `bound`. The same seed gives the same numbers on every device.
    pub(crate) fn uniform<T: Real>(
        &self,
        op: &'static str,
        shape: &[usize],
        bound: f64,
        seed: u64,
    ) -> Result<Tensor<T>> {
        self.filled(op, shape, |start, elements: &mut [T]| {
            for (i, element) in (start..).zip(elements) {
                let uniform: f32 = Fill::Uniform.value(i, seed);
                *element = T::from_f64(f64::from(uniform) * bound);
            }
        })
    }
}
