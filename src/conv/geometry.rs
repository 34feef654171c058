//! The geometry of a convolution: the extents of its operands, and the elements that an element of the result reads.

use super::extents::{channel_mismatch, check, check_groups};
use super::options::{ConvOptions, Padding};
use crate::layout::Layout;
use crate::{Error, Result};
use std::fmt;

/// Padded extents, kernels with their dilation, and strides are below $2^{30}$, so that shaders can count them.
const LONGEST: u64 = (1 << 30) - 1;

/// The extents of a convolution of `D` axes, checked. Plain data.
///
/// An input (batch, ..., channels) and a weight (outputs, ..., channels / groups) give a result (batch, ..., outputs); `...` are the
/// axes. Output channel $o$ belongs to group $\lfloor o\\,g / O \rfloor$ of the $g$ groups, and reads the channels of this group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvGeometry<const D: usize = 2> {
    /// Images.
    pub batch: usize,
    /// Channels of the input.
    pub channels: usize,
    /// Channels of the result.
    pub outputs: usize,
    /// Groups of channels; they divide `channels` and `outputs`.
    pub groups: usize,
    /// The axes of an image, rows before columns.
    pub axes: [ConvAxis; D],
}

/// An axis of a convolution. Index $p$ of the result reads, by tap $r$ of the kernel, index $p\\,s + r\\,d - b$ of the input, with the
/// stride $s$, the dilation $d$ and the padding $b$ before the input. Indices outside of the input are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvAxis {
    /// Extent of the input.
    pub input: usize,
    /// Extent of the result.
    pub output: usize,
    /// Extent of the kernel.
    pub taps: usize,
    /// Indices of the input from one index of the result to the next.
    pub stride: usize,
    /// Indices of the input from one tap to the next.
    pub dilation: usize,
    /// Zeros before the input.
    pub before: usize,
    /// Zeros after the input.
    pub after: usize,
}

impl ConvAxis {
    /// The index of the input that a tap reads for an index of the result; None in the padding.
    #[must_use]
    pub fn read(&self, output: usize, tap: usize) -> Option<usize> {
        let at = output * self.stride + tap * self.dilation;
        at.checked_sub(self.before).filter(|&at| at < self.input)
    }

    /// The extent of the kernel with its dilation.
    #[must_use]
    pub fn span(&self) -> usize {
        (self.taps - 1).saturating_mul(self.dilation).saturating_add(1)
    }

    /// The extent of the input with its padding.
    #[must_use]
    pub fn padded(&self) -> usize {
        self.input.saturating_add(self.before).saturating_add(self.after)
    }

    /// Whether the axis has a kernel of one tap that reads each index in turn.
    #[must_use]
    pub fn is_pointwise(&self) -> bool {
        self.taps == 1 && self.stride == 1 && [self.before, self.after] == [0, 0]
    }

    /// The depth of images, which are volumes of one plane.
    const OF_IMAGES: Self =
        Self { input: 1, output: 1, taps: 1, stride: 1, dilation: 1, before: 0, after: 0 };

    /// An axis without padding and without a result yet.
    fn unpadded<const D: usize>(options: &ConvOptions<D>, axis: usize, input: usize, taps: usize) -> Self {
        // A single tap has no next one.
        let (stride, dilation) = (options.stride[axis], if taps == 1 { 1 } else { options.dilation[axis] });
        Self { input, output: 0, taps, stride, dilation, before: 0, after: 0 }
    }

    /// The same with this padding, and the result that follows: no result if the kernel is larger than the padded input.
    fn convolved<const D: usize>(self, axis: usize, padding: Padding<D>) -> Self {
        let [before, after] = match padding {
            Padding::Valid => [0, 0],
            Padding::Explicit(sides) => sides[axis],
            Padding::Same(side) => {
                let last = self.input.div_ceil(self.stride).saturating_sub(1) * self.stride;
                side.split(last.saturating_add(self.span()).saturating_sub(self.input))
            }
        };
        let padded = Self { before, after, ..self };
        let room = padded.padded().checked_sub(padded.span());
        Self { output: room.map_or(0, |room| room / self.stride + 1), ..padded }
    }

    /// The axis of a transposed convolution whose operand has `from` indices along it: as the input, it has the result. No input
    /// if nothing is left of the result.
    fn transposed(self, axis: usize, from: usize, padding: Padding, more: usize) -> Self {
        let steps = from.saturating_sub(1).saturating_mul(self.stride);
        let whole = steps.saturating_add(self.span());
        let (input, [before, after]) = match padding {
            Padding::Valid => (whole.saturating_add(more), [0, 0]),
            Padding::Explicit(sides) => {
                let cut = sides[axis][0].saturating_add(sides[axis][1]);
                (whole.saturating_add(more).saturating_sub(cut), sides[axis])
            }
            Padding::Same(side) => {
                let input = from.saturating_mul(self.stride);
                (input, side.split(whole.saturating_sub(input)))
            }
        };
        Self { input, output: from, before, after, ..self }
    }

    /// Checks that shaders can count the axis.
    fn check(&self, op: &'static str) -> Result<()> {
        let limit = |what, size: usize| Error::check_limit(op, what, size as u64, LONGEST);
        limit("an extent of the convolution's padded input", self.padded())?;
        limit("an extent of the kernel with its dilation", self.span())?;
        limit("a stride", self.stride)
    }
}

impl<const D: usize> ConvGeometry<D> {
    /// Input channels of a group.
    #[must_use]
    pub fn group_channels(&self) -> usize {
        self.channels / self.groups
    }

    /// Output channels of a group.
    #[must_use]
    pub fn group_outputs(&self) -> usize {
        self.outputs / self.groups
    }

    /// The products in the sum of an element whose window has no padding.
    #[must_use]
    pub fn terms(&self) -> usize {
        self.axes.iter().map(|axis| axis.taps).product::<usize>() * self.group_channels()
    }

    /// Whether every output channel reads one input channel.
    #[must_use]
    pub fn is_depthwise(&self) -> bool {
        self.group_channels() == 1
    }
}

impl<const D: usize> ConvGeometry<D> {
    /// The convolution of `x` (batch, ..., channels) with `weight` (outputs, ..., channels / groups), where `...` are height and width, or depth,
    /// height and width.
    ///
    /// The batch and the number of outputs may be 0. All other extents are at least 1, those of the result too.
    ///
    /// # Errors
    /// [`Error::Shape`] if an operand does not have these axes, groups do not divide the channels, the operands have different
    /// channels, images or kernels are empty, or the kernel is larger than the padded input; [`Error::Input`] for a stride, dilation
    /// or number of groups of 0; [`Error::Limit`] if a padded extent is $2^{30}$ or more.
    pub fn new(op: &'static str, x: &Layout, weight: &Layout, options: &ConvOptions<D>) -> Result<Self> {
        let [images, kernels] = check(op, x, (weight, ["outputs", "channels / groups"]), options)?;
        let (batch, channels, outputs, groups) = (images.first, images.last, kernels.first, options.groups);
        check_groups(op, x, weight, [channels, outputs], groups)?;
        if channels / groups != kernels.last {
            return Err(channel_mismatch::<D>(op, x, weight, groups));
        }
        let axes = std::array::from_fn(|axis| {
            let unpadded = ConvAxis::unpadded(options, axis, images.extents[axis], kernels.extents[axis]);
            unpadded.convolved(axis, options.padding)
        });
        axes.iter().try_for_each(|axis: &ConvAxis| axis.check(op))?;
        if axes.iter().any(|axis| axis.output == 0) {
            let rule = "the kernel with its dilation must not be larger than the padded input";
            let [spans, padded] = [axes.map(|axis| axis.span()), axes.map(|axis| axis.padded())];
            return Err(Error::shapes(op, rule, &spans, &padded));
        }
        Ok(Self { batch, channels, outputs, groups, axes })
    }

    /// The same convolution of volumes: images are volumes of one plane.
    pub(crate) fn volume(&self) -> ConvGeometry<3> {
        let Self { batch, channels, outputs, groups, .. } = *self;
        let mut axes = [ConvAxis::OF_IMAGES; 3];
        axes.iter_mut().rev().zip(self.axes.iter().rev()).for_each(|(to, axis)| *to = *axis);
        ConvGeometry { batch, channels, outputs, groups, axes }
    }

    /// The shape of the input: (batch, ..., channels).
    pub(super) fn image_shape(&self) -> Vec<usize> {
        self.shape(self.batch, |axis| axis.input, self.channels)
    }

    /// The shape of the weight: (outputs, ..., channels / groups).
    pub(super) fn kernel_shape(&self) -> Vec<usize> {
        self.shape(self.outputs, |axis| axis.taps, self.group_channels())
    }

    /// The shape of the result: (batch, ..., outputs).
    pub(super) fn result_shape(&self) -> Vec<usize> {
        self.shape(self.batch, |axis| axis.output, self.outputs)
    }

    /// The shape of an operand with these first and last axes.
    fn shape(&self, first: usize, extent: fn(&ConvAxis) -> usize, last: usize) -> Vec<usize> {
        [first].into_iter().chain(self.axes.iter().map(extent)).chain([last]).collect()
    }

    /// Whether there are no images, or no outputs.
    pub(super) fn has_no_result(&self) -> bool {
        self.batch == 0 || self.outputs == 0
    }

    /// Whether the convolution is a product of the channels of each pixel: one tap, stride 1, no padding, one group.
    #[must_use]
    pub fn is_pointwise(&self) -> bool {
        self.groups == 1 && self.axes.iter().all(ConvAxis::is_pointwise)
    }
}

impl ConvGeometry {
    /// The convolution whose input gradient is the transposed convolution of `x` (batch, height, width, channels) with `weight`
    /// (channels, height, width, outputs / groups): its input is the transposed result, and its result is `x`.
    /// `output_padding` adds rows and columns to the end of the transposed result, fewer than the stride or the dilation.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::Shape`] if nothing is left of the result; [`Error::Input`] for too much output padding.
    pub fn transposed(
        op: &'static str,
        x: &Layout,
        weight: &Layout,
        options: &ConvOptions,
        output_padding: [usize; 2],
    ) -> Result<Self> {
        let [images, kernels] = check(op, x, (weight, ["channels", "outputs / groups"]), options)?;
        let (batch, channels, first, groups) = (images.first, images.last, kernels.first, options.groups);
        let outputs = kernels.last.saturating_mul(groups);
        check_groups(op, x, weight, [channels, outputs], groups)?;
        if first != channels {
            let is_first = x.shape()[1] == first;
            return Err(Error::Shape {
                op,
                rule: "the channels of the input must be the first axis of the weight".into(),
                remedy: if is_first {
                    ". If the images are stored channels first, pass `x.permute(&[0, 2, 3, 1])`."
                } else {
                    ""
                },
                lhs: x.shape().to_vec(),
                rhs: Some(weight.shape().to_vec()),
            });
        }
        let is_same = matches!(options.padding, Padding::Same(_));
        for (axis, more) in output_padding.into_iter().enumerate() {
            let most = options.stride[axis].max(options.dilation[axis]);
            if more >= most || (is_same && more > 0) {
                let why = "it must be smaller than the stride or the dilation, and 0 with `Padding::Same`";
                return Err(Error::input(
                    format!("{op}: the output padding"),
                    format!("it is {more}: {why}"),
                ));
            }
        }
        let axes = [0, 1].map(|axis| {
            let unpadded = ConvAxis::unpadded(options, axis, 0, kernels.extents[axis]);
            unpadded.transposed(axis, images.extents[axis], options.padding, output_padding[axis])
        });
        axes.iter().try_for_each(|axis| axis.check(op))?;
        if axes.iter().any(|axis| axis.input == 0) {
            let rule = "the padding must leave at least one row and one column of the result";
            return Err(Error::shapes(op, rule, x.shape(), weight.shape()));
        }
        // The convolution's channels are the transposed convolution's outputs.
        Ok(Self { batch, channels: outputs, outputs: channels, groups, axes })
    }

    /// The shape of the input: (batch, height, width, channels).
    #[must_use]
    pub fn input_shape(&self) -> [usize; 4] {
        let [height, width] = self.axes;
        [self.batch, height.input, width.input, self.channels]
    }

    /// The shape of the weight: (outputs, height, width, channels / groups).
    #[must_use]
    pub fn weight_shape(&self) -> [usize; 4] {
        let [height, width] = self.axes;
        [self.outputs, height.taps, width.taps, self.group_channels()]
    }

    /// The shape of the result: (batch, height, width, outputs).
    #[must_use]
    pub fn output_shape(&self) -> [usize; 4] {
        let [height, width] = self.axes;
        [self.batch, height.output, width.output, self.outputs]
    }
}

impl ConvGeometry<3> {
    /// The shape of the input: (batch, depth, height, width, channels).
    #[must_use]
    pub fn input_shape(&self) -> [usize; 5] {
        let [depth, height, width] = self.axes;
        [self.batch, depth.input, height.input, width.input, self.channels]
    }

    /// The shape of the weight: (outputs, depth, height, width, channels / groups).
    #[must_use]
    pub fn weight_shape(&self) -> [usize; 5] {
        let [depth, height, width] = self.axes;
        [self.outputs, depth.taps, height.taps, width.taps, self.group_channels()]
    }

    /// The shape of the result: (batch, depth, height, width, outputs).
    #[must_use]
    pub fn output_shape(&self) -> [usize; 5] {
        let [depth, height, width] = self.axes;
        [self.batch, depth.output, height.output, width.output, self.outputs]
    }

    /// The same convolution without its depth.
    pub(super) fn of_plane(&self) -> ConvGeometry {
        let Self { batch, channels, outputs, groups, axes: [_, height, width] } = *self;
        ConvGeometry { batch, channels, outputs, groups, axes: [height, width] }
    }

    /// Whether there are no planes but one, and no padding of planes.
    pub(super) fn is_of_images(&self) -> bool {
        let [depth, ..] = self.axes;
        [depth.input, depth.output, depth.taps, depth.before] == [1, 1, 1, 0]
    }
}

/// `4x56x56x64 by 64x3x3x64, stride 2x2, padding 0-1 x 0-1, groups 2`: the images, the weight, and what is not as by default.
impl<const D: usize> fmt::Display for ConvGeometry<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |extents: &[usize]| extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        write!(f, "{} by {}", by(&self.image_shape()), by(&self.kernel_shape()))?;
        let [stride, dilation] = [self.axes.map(|axis| axis.stride), self.axes.map(|axis| axis.dilation)];
        for (word, steps) in [("stride", stride), ("dilation", dilation)] {
            if steps != [1; D] {
                write!(f, ", {word} {}", by(&steps))?;
            }
        }
        if self.axes.iter().any(|axis| axis.before + axis.after > 0) {
            let sides = self.axes.map(|axis| format!("{}-{}", axis.before, axis.after));
            write!(f, ", padding {}", sides.join(" x "))?;
        }
        if self.groups > 1 {
            write!(f, ", groups {}", self.groups)?;
        }
        Ok(())
    }
}

/// The layout of images or kernels, as that of volumes.
///
/// # Errors
/// [`Error::Shape`] if there are more axes than those of volumes.
pub(super) fn volume_layout(op: &'static str, of: &Layout) -> Result<Layout> {
    if of.rank() > 5 {
        let rule = "kernels convolve sequences, images and volumes, which have at most five axes";
        return Err(Error::shape(op, rule, of.shape()));
    }
    let mut layout = *of;
    while layout.rank() < 5 {
        layout = layout.unsqueeze(1)?;
    }
    Ok(layout)
}

/// The greatest common divisor.
pub(super) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
