//! A checked conversion between the texels of an image, in a buffer, and a tensor of its colours, as plain data.

use super::format::TexelFormat;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim, known};
use crate::ops::packing::per_word;
use crate::{Error, Result};

/// The bytes between rows of texels in a buffer are a multiple of this, because copies from and to textures need it.
const ROW_ALIGNMENT: usize = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize;

shader_dims! {
    /// The uniform of `shaders/ops/read_image.wgsl` and `write_image.wgsl` (`image_dims.wgsl`). Scale and shift are scalars of the
    /// plan.
    pub struct ImageDims {
        /// invocations
        units: u32,
        /// `read_image`: invocations for a run; `write_image`: words of a row of texels
        row_units: u32,
        /// elements of C that are neighbours in memory
        run: u32,
        /// texels of a row
        width: u32,
        /// of the tensor
        channels: u32,
        /// words from a row of texels to the next
        texel_row: u32,
        /// the tensor's first element in its binding
        offset: u32,
        /// the tensor's strides, in elements
        row_stride: u32,
        pixel_stride: u32,
        channel_stride: u32,
        /// the tensor holds scale * colour + shift; `write_image` has 1 / scale
        scale: u32 as f32,
        shift: u32 as f32,
    }
}

/// The direction of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageTransfer {
    /// From texels to a tensor.
    Read,
    /// From a tensor to texels.
    Write,
}

/// Whether colours are scaled and shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColourScale {
    /// The tensor holds the colours.
    Unscaled,
    /// The tensor holds scale * colour + shift.
    Scaled,
}

/// A checked conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageProblem {
    /// Format of the texels.
    pub(super) format: TexelFormat,
    /// Type of the tensor's elements.
    pub(super) dtype: DType,
    /// The direction.
    pub(super) transfer: ImageTransfer,
    /// Whether colours are scaled.
    pub(super) scale: ColourScale,
    /// The tensor's layout, relative to its window.
    pub(super) tensor: Layout,
}

impl ImageTransfer {
    /// The name of the operation in plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Read => "from_texture",
            Self::Write => "write_texture",
        }
    }
}

impl ImageProblem {
    /// The conversion between a tensor (height, width, channels), whose elements are real, and texels of this format. The
    /// tensor must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if the tensor does not have three axes, or has another number of channels than the format, or if
    /// elements of a tensor that is written overlap; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(
        transfer: ImageTransfer,
        format: TexelFormat,
        tensor: &Layout,
        dtype: DType,
        scale: ColourScale,
    ) -> Result<Self> {
        let op = transfer.op();
        let &[_, _, channels] = tensor.shape() else {
            let rule = "the tensor must be (height, width, channels)";
            return Err(Error::shape(op, rule, tensor.shape()));
        };
        if !format.takes(channels) {
            let rule = match format.channels() {
                1 => "the tensor must have one channel, as the texture",
                _ => "the tensor must have four channels, as the texture, or three, without alpha",
            };
            return Err(Error::shape(op, rule, tensor.shape()));
        }
        if tensor.is_empty() {
            return Err(Error::shape(op, "the image must have at least one texel", tensor.shape()));
        }
        if transfer == ImageTransfer::Read {
            tensor.check_no_overlap(op)?;
        }
        let problem = Self { format, dtype, transfer, scale, tensor: tensor.in_window(dtype) };
        let [height, _, _] = problem.shape();
        // No index of the shaders wraps.
        dim(op, problem.texel_row().saturating_mul(height))?;
        dim(op, problem.tensor.span().end)?;
        dim(op, tensor.len())?;
        problem.dims()?;
        Ok(problem)
    }

    /// The shader's uniform.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more; a problem has none.
    pub(super) fn dims(&self) -> Result<ImageDims> {
        let (op, tensor, [height, width, channels]) = (self.transfer.op(), &self.tensor, self.shape());
        let [run, row_units, units] = match self.transfer {
            ImageTransfer::Read => {
                let run = neighbours(tensor);
                // The number of words that the run touches if it begins with the last element of a word.
                let of_run = 1 + (run - 1).div_ceil(per_word(self.dtype) as usize);
                [run, of_run, of_run.saturating_mul(tensor.len() / run)]
            }
            ImageTransfer::Write => {
                let of_row = width.saturating_mul(self.format.words());
                [1, of_row, of_row.saturating_mul(height)]
            }
        };
        let stride = |axis: usize| dim(op, tensor.strides()[axis]);
        Ok(ImageDims {
            units: dim(op, units)?,
            row_units: dim(op, row_units)?,
            run: dim(op, run)?,
            width: dim(op, width)?,
            channels: dim(op, channels)?,
            texel_row: dim(op, self.texel_row())?,
            offset: dim(op, tensor.offset())?,
            row_stride: stride(0)?,
            pixel_stride: stride(1)?,
            channel_stride: stride(2)?,
            ..ImageDims::default()
        })
    }

    /// Height, width and channels.
    fn shape(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.tensor.shape()[axis])
    }

    /// Words from a row of texels to the next in their buffer.
    fn texel_row(&self) -> usize {
        let [_, width, _] = self.shape();
        row_bytes(self.format, width) / 4
    }

    /// The layout of the words of the texels in their buffer.
    pub(super) fn texels(&self) -> Result<Layout> {
        let ([height, width, _], row) = (self.shape(), self.texel_row());
        Layout::new(self.transfer.op(), &[height, width * self.format.words()], &[row, 1], 0, usize::MAX)
    }

    /// Bytes from a row of texels to the next in their buffer.
    pub(super) fn bytes_per_row(&self) -> u32 {
        known(self.texel_row() * 4)
    }
}

/// Bytes from a row of texels to the next in a buffer.
fn row_bytes(format: TexelFormat, width: usize) -> usize {
    width.saturating_mul(4 * format.words()).checked_next_multiple_of(ROW_ALIGNMENT).unwrap_or(usize::MAX)
}

/// Number of elements that follow each other in memory in row-major order: one, those of a pixel, of a row, or all.
fn neighbours(tensor: &Layout) -> usize {
    let mut run = 1;
    for (&extent, &stride) in tensor.shape().iter().zip(tensor.strides()).rev() {
        if extent > 1 && stride != run {
            break;
        }
        run *= extent;
    }
    run
}
