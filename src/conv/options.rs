//! The options of a convolution: strides, dilations, padding and groups.

/// The stride, dilation, padding and groups of a convolution of `D` axes: two of images, three of volumes. `ConvOptions::new()` moves
/// the kernel by one, pads nothing and has one group.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::conv::{ConvOptions, Padding, SamePadding, conv2d};
///
/// let x = gpu.random::<f32>([1, 9, 9, 8], Fill::Uniform, 1)?; // (batch, height, width, channels)
/// let weight = gpu.random::<f32>([16, 3, 3, 8], Fill::Uniform, 2)?; // (outputs, height, width, channels)
/// let halved = ConvOptions::new().stride([2, 2]).padding(Padding::Same(SamePadding::ExtraAtEnd));
/// assert_eq!(conv2d(&x, &weight, None, &halved)?.shape(), [1, 5, 5, 16]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "options are passed to `conv2d` or `conv3d`"]
pub struct ConvOptions<const D: usize = 2> {
    pub(crate) stride: [usize; D],
    pub(crate) dilation: [usize; D],
    pub(crate) padding: Padding<D>,
    pub(crate) groups: usize,
}

/// The padding of a convolution's input: rows and columns of zeros around it, of a volume also planes. They take no memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Padding<const D: usize = 2> {
    /// None: the kernel stays within the input.
    #[default]
    Valid,
    /// This number of rows before and after the input, then of columns: `[[top, bottom], [left, right]]`. For volumes, of planes before
    /// that.
    Explicit([[usize; 2]; D]),
    /// So that the result has $\lceil n / s \rceil$ indices along an axis of $n$ with the stride $s$. The padding needed for that
    /// is split between both sides, and none is added if the kernel does not need any.
    Same(SamePadding),
}

/// The side of the input that gets one row more if the padding of [`Padding::Same`] is uneven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SamePadding {
    /// Below and to the right, as `same` of `PyTorch`, `TensorFlow`, Keras and JAX, and `SAME_UPPER` of ONNX.
    ExtraAtEnd,
    /// Above and to the left, as `SAME_LOWER` of JAX and ONNX.
    ExtraAtStart,
}

impl<const D: usize> Default for ConvOptions<D> {
    fn default() -> Self {
        Self { stride: [1; D], dilation: [1; D], padding: Padding::Valid, groups: 1 }
    }
}

impl<const D: usize> ConvOptions<D> {
    /// Stride 1, dilation 1, no padding, one group.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the kernel by this number of rows and columns; in volumes, of planes, rows and columns.
    pub fn stride(self, stride: [usize; D]) -> Self {
        Self { stride, ..self }
    }

    /// Sets the distance of neighbouring rows and columns of the kernel; for volumes, of planes, rows and columns.
    pub fn dilation(self, dilation: [usize; D]) -> Self {
        Self { dilation, ..self }
    }

    /// Surrounds the input with zeros.
    pub fn padding(self, padding: Padding<D>) -> Self {
        Self { padding, ..self }
    }

    /// Splits the channels into this number of groups: each group of output channels reads one group of input channels. As many
    /// groups as channels make a depthwise convolution.
    pub fn groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }
}

impl SamePadding {
    /// The parts before and after the input of a padding of `total`.
    pub(super) fn split(self, total: usize) -> [usize; 2] {
        let [less, more] = [total / 2, total - total / 2];
        match self {
            Self::ExtraAtEnd => [less, more],
            Self::ExtraAtStart => [more, less],
        }
    }
}
