//! Tensors from textures, and textures from tensors.

use super::format::TexelFormat;
use super::pixels::Pixels;
use super::problem::{ColourScale, ImageProblem, ImageTransfer};
use crate::error::call;
use crate::gpu::{Allocation, Gpu, TexelCopy, TexelDirection, View};
use crate::layout::{DType, Layout, Real};
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

impl<T: Real> Tensor<T> {
    /// A new tensor with the colours of a texture: (height, width, channels), row-major. Nothing goes through the host.
    ///
    /// One copy and one launch, which are recorded like every operation. They run after all earlier recorded work. They
    /// see everything that the application submits before their own submission (by [`Gpu::flush`] or a read). In the
    /// closure of [`Gpu::record_into`] they go into the application's encoder, and see the results of its earlier
    /// commands.
    ///
    /// # The texture
    /// Of format `Rgba8Unorm`, `R32Float` or `Rgba16Float`, two-dimensional, with one sample and the usage `COPY_SRC`, on the
    /// device of `gpu`. [`Pixels`] selects a mip level, a layer and a rectangle, scales the colours, and may leave out alpha.
    ///
    /// # Precision
    /// Without a scale and a shift every element is the colour, rounded to `T`: a byte $c$ of rgba8unorm is $c / 255$,
    /// rounded to f32 and then to `T`, ties to even. r32float and rgba16float are converted as by [`cast`](Self::cast):
    /// subnormal numbers are preserved, and NaN stays NaN. Otherwise the colour in f32 is scaled and shifted with at most two
    /// roundings in f32, which may flush subnormal numbers: [`reference::from_texels`](crate::reference::from_texels).
    ///
    /// # Errors
    /// [`Error::Input`] if the texture is not as described or was destroyed, if it has no such mip level, layer or texels, if
    /// the scale or the shift is not as [`Pixels`] says, and in the closure of a [`Gpu::capture`]; [`Error::Shape`] if the
    /// format does not have such channels; [`Error::Gpu`] if the texture belongs to another device; [`Error::Limit`] if the
    /// image is larger than a buffer of the device; [`Error::OutOfMemory`]; [`Error::Device`] if the device is lost. If the
    /// texture is destroyed before the copy is submitted, the tensor has no contents, and reading it is an error.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::wgpu::{TextureDescriptor, TextureDimension, TextureFormat, TextureUsages};
    /// use tilewise::{Tensor, f16, ops::Pixels};
    ///
    /// let frame = gpu.device().create_texture(&TextureDescriptor {
    ///     label: None,
    ///     size: tilewise::wgpu::Extent3d { width: 2, height: 1, depth_or_array_layers: 1 },
    ///     mip_level_count: 1,
    ///     sample_count: 1,
    ///     dimension: TextureDimension::D2,
    ///     format: TextureFormat::Rgba8Unorm,
    ///     usage: TextureUsages::COPY_SRC | TextureUsages::COPY_DST | TextureUsages::RENDER_ATTACHMENT,
    ///     view_formats: &[],
    /// });
    /// let orange = gpu.tensor(&[1.0f32, 0.5, 0.0, 1.0].repeat(2), [1, 2, 4])?;
    /// orange.write_texture(&frame, &Pixels::default())?;
    ///
    /// let bytes = Pixels { scale: 255.0, channels: Some(3), ..Pixels::default() };
    /// let image = Tensor::<f32>::from_texture(&gpu, &frame, &bytes)?;
    /// assert_eq!(image.shape(), [1, 2, 3]);
    /// assert_eq!(image.to_vec()?, [255.0, 128.0, 0.0, 255.0, 128.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_texture(gpu: &Gpu, texture: &wgpu::Texture, pixels: &Pixels) -> Result<Self> {
        let op = "from_texture";
        call(op, || {
            gpu.check_textures(op)?;
            let (format, [width, height]) = pixels.check(op, texture, TexelDirection::FromTexture)?;
            let channels = pixels.channels.unwrap_or(format.channels());
            let shape = [height as usize, width as usize, channels];
            let image = Layout::contiguous(op, &shape)?;
            let problem = pixels.problem(ImageTransfer::Read, format, &image, T::DTYPE)?;
            let buffer = TexelBuffer::new(gpu, op, &problem)?;
            let size = [width, height];
            let copy = pixels.copy(TexelDirection::FromTexture, texture, size, problem.bytes_per_row());
            buffer.fill(op, copy)?;
            Self::computed(gpu, &problem, &[buffer.view()], &pixels.scalars(ImageTransfer::Read), shape)
        })
    }

    /// Replaces the elements by the colours of a texture, as [`from_texture`](Self::from_texture) does for a new tensor. The
    /// tensor is uniquely owned or a [`writable_view`](Self::writable_view), and has any strides.
    ///
    /// # Shapes
    /// (height, width, channels), with the width and height of the texels that are read. It has as many channels as the
    /// texture, or 3 of the 4.
    ///
    /// # Errors
    /// [`Error::Shape`] if the tensor has another shape, or its elements overlap; [`Error::Input`] if others share its buffer;
    /// otherwise as [`from_texture`](Self::from_texture).
    pub fn fill_from_texture(&mut self, texture: &wgpu::Texture, pixels: &Pixels) -> Result<()> {
        let op = "fill_from_texture";
        call(op, || {
            let gpu = self.gpu();
            gpu.check_textures(op)?;
            self.check_unshared(op)?;
            let (format, size) = pixels.check(op, texture, TexelDirection::FromTexture)?;
            self.check_size(op, size)?;
            let problem = pixels.problem(ImageTransfer::Read, format, self.layout(), T::DTYPE)?;
            let buffer = TexelBuffer::new(gpu, op, &problem)?;
            let copy = pixels.copy(TexelDirection::FromTexture, texture, size, problem.bytes_per_row());
            buffer.fill(op, copy)?;
            self.overwrite_with(|to| {
                gpu.run(&problem, &[buffer.view(), to], &pixels.scalars(ImageTransfer::Read))
            })
        })
    }

    /// Writes the elements, of shape (height, width, channels) and any strides, as the colours of a texture. Nothing goes
    /// through the host.
    ///
    /// One launch and one copy, which are recorded like every operation. Call [`Gpu::flush`] before the application
    /// submits work that reads the texture. In the closure of [`Gpu::record_into`] they go into the application's
    /// encoder, and its later commands see the texture.
    ///
    /// # The texture
    /// As for [`from_texture`](Self::from_texture), with the usage `COPY_DST`. The texels outside the rectangle keep their
    /// values. If the tensor has 3 channels and the texture 4, alpha becomes 1.
    ///
    /// # Precision
    /// The colour is $(x - \mathrm{shift}) / \mathrm{scale}$ of an element $x$, in f32; without a scale and a shift it is $x$,
    /// exactly.
    /// - rgba8unorm: the integer nearest to 255 times the colour, ties to even. Colours below 0 become 0, above 1 they
    ///   become 1, and NaN becomes 0. This holds on every device; when a GPU itself stores a colour in this format, the
    ///   standards leave the rounding open.
    /// - r32float and rgba16float: converted as by [`cast`](Self::cast). Beyond the range of f16 they become infinite.
    ///
    /// # Errors
    /// [`Error::Shape`] if the tensor is not (height, width, channels) of the texels; [`Error::Device`] if it was never
    /// computed, because a launch failed; otherwise as [`from_texture`](Self::from_texture). If the texture is destroyed before
    /// the copy is submitted, [`Gpu::flush`] returns the error. If the tensor turns out to have no contents, the texture keeps
    /// its contents.
    pub fn write_texture(&self, texture: &wgpu::Texture, pixels: &Pixels) -> Result<()> {
        let op = "write_texture";
        call(op, || {
            let gpu = self.gpu();
            gpu.check_textures(op)?;
            let (format, size) = pixels.check(op, texture, TexelDirection::ToTexture)?;
            self.check_size(op, size)?;
            let problem = pixels.problem(ImageTransfer::Write, format, self.layout(), T::DTYPE)?;
            let buffer = TexelBuffer::new(gpu, op, &problem)?;
            let copy = pixels.copy(TexelDirection::ToTexture, texture, size, problem.bytes_per_row());
            gpu.check_texels(op, &copy, &buffer.allocation)?;
            gpu.run(&problem, &[buffer.view(), self.view()], &pixels.scalars(ImageTransfer::Write))?;
            gpu.copy_texels(op, copy, &buffer.allocation)
        })
    }

    /// Checks that the tensor has the height and width of the texels. The problem checks the rest.
    fn check_size(&self, op: &'static str, [width, height]: [u32; 2]) -> Result<()> {
        let size = [height as usize, width as usize];
        if self.shape().len() == 3 && self.shape()[..2] != size {
            let rule = "the tensor must have the height and width of the texels";
            return Err(Error::shapes(op, rule, self.shape(), &size));
        }
        Ok(())
    }
}

impl Pixels {
    fn problem(
        &self,
        transfer: ImageTransfer,
        format: TexelFormat,
        tensor: &Layout,
        dtype: DType,
    ) -> Result<ImageProblem> {
        let scale = if self.is_plain() { ColourScale::Unscaled } else { ColourScale::Scaled };
        ImageProblem::new(transfer, format, tensor, dtype, scale)
    }

    /// The numbers of a call.
    fn scalars(&self, transfer: ImageTransfer) -> Vec<Scalar> {
        let scale = match transfer {
            _ if self.is_plain() => return Vec::new(),
            ImageTransfer::Read => self.scale,
            ImageTransfer::Write => 1.0 / self.scale,
        };
        vec![scale.into(), self.shift.into()]
    }
}

/// A buffer for the texels of one operation.
struct TexelBuffer {
    allocation: Allocation,
    layout: Layout,
}

impl TexelBuffer {
    fn new(gpu: &Gpu, op: &'static str, problem: &ImageProblem) -> Result<Self> {
        let layout = problem.texels()?;
        let bytes = layout.bytes(DType::I32).end;
        Ok(Self { allocation: gpu.allocate(op, bytes)?, layout })
    }

    /// Copies texels to the buffer.
    fn fill(&self, op: &'static str, copy: TexelCopy) -> Result<()> {
        let gpu = self.allocation.gpu();
        gpu.check_texels(op, &copy, &self.allocation)?;
        gpu.copy_texels(op, copy, &self.allocation)
    }

    /// The texels as words.
    fn view(&self) -> View<'_> {
        View::new(&self.allocation, self.layout, DType::I32)
    }
}
