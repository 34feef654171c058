//! The geometry of a convolution: the extents of its operands, and the elements that an element of the result reads.

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

    /// An axis without padding and without a result yet.
    fn unpadded(options: &ConvOptions, axis: usize, input: usize, taps: usize) -> Self {
        let (stride, dilation) = (options.stride[axis], options.dilation[axis]);
        Self { input, output: 0, taps, stride, dilation, before: 0, after: 0 }
    }

    /// The same with this padding, and the result that follows: no result if the kernel is larger than the padded input.
    fn convolved(self, axis: usize, padding: Padding) -> Self {
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

impl ConvGeometry {
    /// The convolution of `x` (batch, height, width, channels) with `weight` (outputs, height, width, channels / groups).
    ///
    /// The batch and the number of outputs may be 0. All other extents are at least 1, those of the result too.
    ///
    /// # Errors
    /// [`Error::Shape`] if an operand does not have four axes, groups do not divide the channels, the operands have different
    /// channels, images or kernels are empty, or the kernel is larger than the padded input; [`Error::Input`] for a stride, dilation
    /// or number of groups of 0; [`Error::Limit`] if a padded extent is $2^{30}$ or more.
    pub fn new(op: &'static str, x: &Layout, weight: &Layout, options: &ConvOptions) -> Result<Self> {
        let axes = "the weight must have the axes (outputs, height, width, channels / groups)";
        let ([batch, height, width, channels], [outputs, kh, kw, _]) = check(op, x, (weight, axes), options)?;
        let groups = options.groups;
        check_groups(op, x, weight, [channels, outputs], groups)?;
        if channels / groups != weight.shape()[3] {
            return Err(channel_mismatch(op, x, weight, groups));
        }
        let axes = [(height, kh), (width, kw)];
        let axes = [0, 1].map(|axis| {
            let (input, taps) = axes[axis];
            ConvAxis::unpadded(options, axis, input, taps).convolved(axis, options.padding)
        });
        axes.iter().try_for_each(|axis| axis.check(op))?;
        if axes.iter().any(|axis| axis.output == 0) {
            let rule = "the kernel with its dilation must not be larger than the padded input";
            let [spans, padded] = [axes.map(|axis| axis.span()), axes.map(|axis| axis.padded())];
            return Err(Error::shapes(op, rule, &spans, &padded));
        }
        Ok(Self { batch, channels, outputs, groups, axes })
    }

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
        let axes = "the weight must have the axes (channels, height, width, outputs / groups)";
        let ([batch, height, width, channels], [first, kh, kw, last]) =
            check(op, x, (weight, axes), options)?;
        let groups = options.groups;
        let outputs = last.saturating_mul(groups);
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
        let axes = [(height, kh), (width, kw)];
        let axes = [0, 1].map(|axis| {
            let (from, taps) = axes[axis];
            let unpadded = ConvAxis::unpadded(options, axis, 0, taps);
            unpadded.transposed(axis, from, options.padding, output_padding[axis])
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

    /// Whether the convolution is a product of the channels of each pixel: one tap, stride 1, no padding, one group.
    #[must_use]
    pub fn is_pointwise(&self) -> bool {
        self.groups == 1 && self.axes.iter().all(ConvAxis::is_pointwise)
    }
}

/// `4x56x56x64 by 64x3x3x64, stride 2x2, padding 0-1 x 0-1, groups 2`: the images, the weight, and what is not as by default.
impl fmt::Display for ConvGeometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |extents: &[usize]| extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        write!(f, "{} by {}", by(&self.input_shape()), by(&self.weight_shape()))?;
        let [stride, dilation] = [self.axes.map(|axis| axis.stride), self.axes.map(|axis| axis.dilation)];
        for (word, pair) in [("stride", stride), ("dilation", dilation)] {
            if pair != [1, 1] {
                write!(f, ", {word} {}", by(&pair))?;
            }
        }
        let [down, across] = self.axes.map(|axis| [axis.before, axis.after]);
        if [down, across] != [[0; 2]; 2] {
            write!(f, ", padding {}-{} x {}-{}", down[0], down[1], across[0], across[1])?;
        }
        if self.groups > 1 {
            write!(f, ", groups {}", self.groups)?;
        }
        Ok(())
    }
}

/// The shapes of the operands, if they have four axes and elements, and the options are at least 1.
fn check(
    op: &'static str,
    x: &Layout,
    (weight, axes_of_weight): (&Layout, &'static str),
    options: &ConvOptions,
) -> Result<([usize; 4], [usize; 4])> {
    let four = |of: &Layout, rule: &'static str| {
        <[usize; 4]>::try_from(of.shape()).map_err(|_| Error::shape(op, rule, of.shape()))
    };
    let images = four(x, "the input must have the axes (batch, height, width, channels)")?;
    let kernels = four(weight, axes_of_weight)?;
    for (what, [rows, columns]) in [("stride", options.stride), ("dilation", options.dilation)] {
        if rows == 0 || columns == 0 {
            let why = format!("it must be at least 1 along each axis, not [{rows}, {columns}]");
            return Err(Error::input(format!("{op}: the {what}"), why));
        }
    }
    if options.groups == 0 {
        return Err(Error::input(format!("{op}: the number of groups"), "it must be at least 1"));
    }
    if images[1..].contains(&0) || kernels[1..].contains(&0) {
        let rule = "images and kernels must have at least one row, column and channel";
        return Err(Error::shapes(op, rule, x.shape(), weight.shape()));
    }
    Ok((images, kernels))
}

/// Checks that the groups divide these numbers of channels.
fn check_groups(
    op: &'static str,
    x: &Layout,
    weight: &Layout,
    channels: [usize; 2],
    groups: usize,
) -> Result<()> {
    if channels.iter().all(|of| of.is_multiple_of(groups)) {
        return Ok(());
    }
    let rule = format!("{groups} groups must divide the channels of the input and of the result");
    Err(Error::shapes(op, rule, x.shape(), weight.shape()))
}

/// The error for operands whose channels differ, which says how to read a tensor that is stored channels first.
fn channel_mismatch(op: &'static str, x: &Layout, weight: &Layout, groups: usize) -> Error {
    let (image, kernel) = (x.shape(), weight.shape());
    let remedy = if kernel[1] == image[3] / groups {
        ". If the weight is stored channels first, convert it once: `weight.permute(&[0, 2, 3, 1])?.contiguous()?`."
    } else if image[1] == kernel[3].saturating_mul(groups) {
        ". If the images are stored channels first, pass `x.permute(&[0, 2, 3, 1])`; `contiguous` converts them once."
    } else if image[1] == kernel[1].saturating_mul(groups) {
        ". If both are stored channels first, convert each once: `permute(&[0, 2, 3, 1])?.contiguous()?`."
    } else {
        ""
    };
    Error::Shape {
        op,
        rule: "the channels of the weight must be those of the input, divided by the groups".into(),
        remedy,
        lhs: image.to_vec(),
        rhs: Some(kernel.to_vec()),
    }
}

/// The greatest common divisor.
pub(super) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
