//! The shapes of a convolution's operands, and the errors for those that do not fit.

use super::options::ConvOptions;
use crate::layout::Layout;
use crate::{Error, Result};

/// The shape of an operand: its first axis, those of an image, and its last.
pub(super) struct Extents<const D: usize> {
    pub(super) first: usize,
    pub(super) extents: [usize; D],
    pub(super) last: usize,
}

impl<const D: usize> Extents<D> {
    /// The shape of an operand that is called `name` in errors and has these first and last axes.
    fn of(op: &'static str, name: &str, [first, last]: [&str; 2], of: &Layout) -> Result<Self> {
        if let [first, extents @ .., last] = of.shape()
            && let Ok(extents) = extents.try_into()
        {
            return Ok(Self { first: *first, extents, last: *last });
        }
        let axes = ["depth", "height", "width"];
        let axes = axes[axes.len().saturating_sub(D)..].join(", ");
        let rule = format!("the {name} must have the axes ({first}, {axes}, {last})");
        Err(Error::shape(op, rule, of.shape()))
    }

    fn is_empty(&self) -> bool {
        self.last == 0 || self.extents.contains(&0)
    }
}

/// The shapes of the operands, if they have these axes and elements, and the options are at least 1.
pub(super) fn check<const D: usize>(
    op: &'static str,
    x: &Layout,
    (weight, axes_of_weight): (&Layout, [&str; 2]),
    options: &ConvOptions<D>,
) -> Result<[Extents<D>; 2]> {
    let images = Extents::of(op, "input", ["batch", "channels"], x)?;
    let kernels = Extents::of(op, "weight", axes_of_weight, weight)?;
    for (what, steps) in [("stride", options.stride), ("dilation", options.dilation)] {
        if steps.contains(&0) {
            let why = format!("it must be at least 1 along each axis, not {steps:?}");
            return Err(Error::input(format!("{op}: the {what}"), why));
        }
    }
    if options.groups == 0 {
        return Err(Error::input(format!("{op}: the number of groups"), "it must be at least 1"));
    }
    if images.is_empty() || kernels.is_empty() {
        let rule = if D == 3 {
            "volumes and kernels must have at least one plane, row, column and channel"
        } else {
            "images and kernels must have at least one row, column and channel"
        };
        return Err(Error::shapes(op, rule, x.shape(), weight.shape()));
    }
    Ok([images, kernels])
}

/// Checks that the groups divide these numbers of channels.
pub(super) fn check_groups(
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

/// How to read tensors that are stored channels first: the weight, the input, or both.
const CHANNELS_FIRST: [[&str; 3]; 2] = [
    [
        ". If the weight is stored channels first, convert it once: `weight.permute(&[0, 2, 3, 1])?.contiguous()?`.",
        ". If the images are stored channels first, pass `x.permute(&[0, 2, 3, 1])`; `contiguous` converts them once.",
        ". If both are stored channels first, convert each once: `permute(&[0, 2, 3, 1])?.contiguous()?`.",
    ],
    [
        ". If the weight is stored channels first, convert it once: `weight.permute(&[0, 2, 3, 4, 1])?.contiguous()?`.",
        ". If the volumes are stored channels first, pass `x.permute(&[0, 2, 3, 4, 1])`; `contiguous` converts them once.",
        ". If both are stored channels first, convert each once: `permute(&[0, 2, 3, 4, 1])?.contiguous()?`.",
    ],
];

/// The error for operands whose channels differ, which says how to read a tensor that is stored channels first.
pub(super) fn channel_mismatch<const D: usize>(
    op: &'static str,
    x: &Layout,
    weight: &Layout,
    groups: usize,
) -> Error {
    let (image, kernel, last) = (x.shape(), weight.shape(), D + 1);
    let [of_weight, of_images, of_both] = CHANNELS_FIRST[usize::from(D == 3)];
    let remedy = if kernel[1] == image[last] / groups {
        of_weight
    } else if image[1] == kernel[last].saturating_mul(groups) {
        of_images
    } else if image[1] == kernel[1].saturating_mul(groups) {
        of_both
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
