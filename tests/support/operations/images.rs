//! Operations on images with channels last: their rows, their lines in the book, and problems of each.

use super::super::families::Of;
use super::{Row, World, row};
use tilewise::ops::{
    self, AdaptiveAvgPool2d, AdaptiveMaxPool2d, AvgPool2d, Corners, Interpolation, MaxPool2d, PoolRounding,
};
use tilewise::planning::ops::{AxisWindows, PlaneAxis, PlaneFunction, PlaneProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::{DType, Result, Tensor};

/// A matrix (8, 8) as an image of eight channels.
fn image(it: &World) -> Result<Tensor<f32>> {
    it.a.unsqueeze(0)?.unsqueeze(0)
}

/// One channel of one pixel of it.
fn pixel(it: &World) -> Result<Tensor<f32>> {
    image(it)?.slice(2, ..1)?.slice(3, ..1)
}

fn pool() -> MaxPool2d {
    MaxPool2d::new([1, 3]).stride([1, 2]).padding([0, 1])
}

/// The index of a window of one channel.
fn indices(it: &World) -> Result<Tensor<i32>> {
    it.at.unsqueeze(0)?.unsqueeze(0)?.unsqueeze(0)
}

const LINEAR: Interpolation = Interpolation::Bilinear(Corners::HalfPixel);

const POOLED: &str = "`reference::max_pool2d`: exact";
const SUMS: &str = "`reference::max_pool2d_backward`: $\\gamma_n \\sum \\lvert g \\rvert$";
const MEANS: &str =
    "`reference::avg_pool2d`: $(\\gamma_n + 5u)\\,\\sum \\lvert x \\rvert / d$ with the divisor d";
const SHARES: &str = "`reference::avg_pool2d_backward`: $(\\gamma_n + 5u) \\sum \\lvert g \\rvert / d$";

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("ops::AdaptiveAvgPool2d::backward", |it| {
            AdaptiveAvgPool2d::new([1, 8]).backward(&image(it)?, [3, 5])
        })
        .listed(["reals", SHARES, "1", "not provided"]),
        row("ops::AdaptiveAvgPool2d::run", |it| AdaptiveAvgPool2d::new([2, 3]).run(&image(it)?)).listed([
            "reals",
            MEANS,
            "1; 2 for size (1, 1), if cut",
            "`AdaptiveAvgPool2d::backward`",
        ]),
        row("ops::AdaptiveMaxPool2d::backward", |it| {
            AdaptiveMaxPool2d::new([1, 1]).backward(&indices(it)?, &pixel(it)?, [1, 9])
        })
        .listed(["reals", SUMS, "1", "not provided"]),
        row("ops::AdaptiveMaxPool2d::run", |it| AdaptiveMaxPool2d::new([1, 3]).run(&image(it)?)).listed([
            "reals",
            POOLED,
            "1; 2 for size (1, 1), if cut",
            "`AdaptiveMaxPool2d::backward`, with the indices",
        ]),
        row("ops::AdaptiveMaxPool2d::with_indices", |it| {
            AdaptiveMaxPool2d::new([1, 3]).with_indices(&image(it)?)
        })
        .listed(["reals", POOLED, "1", "`AdaptiveMaxPool2d::backward`"]),
        row("ops::AvgPool2d::backward", |it| {
            AvgPool2d::new([2, 2]).stride([1, 1]).backward(&image(it)?, [2, 9])
        })
        .listed(["reals", SHARES, "1", "not provided"]),
        row("ops::AvgPool2d::run", |it| AvgPool2d::new([1, 3]).rounding(PoolRounding::Ceil).run(&image(it)?))
            .listed(["reals", MEANS, "1", "`AvgPool2d::backward`"]),
        row("ops::interpolate", |it| ops::interpolate(&image(it)?, [3, 5], LINEAR)).listed([
            "reals",
            "`reference::interpolate`: nearest exact, else $20 u \\sum \\lvert x \\rvert$ of four",
            "1",
            "`interpolate_backward`",
        ]),
        row("ops::interpolate_backward", |it| ops::interpolate_backward(&image(it)?, [3, 5], LINEAR)).listed(
            [
                "reals",
                "`reference::interpolate_backward`: $(16u + \\gamma_n) \\sum \\lvert g \\rvert$",
                "1",
                "not provided",
            ],
        ),
        row("ops::MaxPool2d::backward", |it| pool().backward(&indices(it)?, &pixel(it)?, [1, 2])).listed([
            "reals",
            SUMS,
            "1",
            "not provided",
        ]),
        row("ops::MaxPool2d::run", |it| pool().run(&image(it)?)).listed([
            "reals",
            POOLED,
            "1",
            "`MaxPool2d::backward`, with the indices",
        ]),
        row("ops::MaxPool2d::with_indices", |it| pool().with_indices(&image(it)?)).listed([
            "reals",
            POOLED,
            "1",
            "`MaxPool2d::backward`",
        ]),
        row("ops::pixel_shuffle", |it| ops::pixel_shuffle(&image(it)?, 2)).listed([
            "all",
            "every bit",
            "1; 0 as a view",
            "`pixel_unshuffle` of $g$",
        ]),
        row("ops::pixel_unshuffle", |it| ops::pixel_unshuffle(&it.image.unsqueeze(0)?, 2)).listed([
            "all",
            "every bit",
            "1; 0 as a view",
            "`pixel_shuffle` of $g$",
        ]),
    ]
}

/// Images of 13 x 11 and seven channels, the number of which grows, or the gradient of what they become.
fn planned(function: PlaneFunction, axes: [PlaneAxis; 2], size: [usize; 2], of: &Of<'_>) -> Result<Plan> {
    let is_backward = matches!(
        function,
        PlaneFunction::LargestBackward
            | PlaneFunction::MeanBackward(_)
            | PlaneFunction::NearestBackward
            | PlaneFunction::BilinearBackward
    );
    let [rows, columns] = if is_backward { size } else { IMAGE };
    let channels = if of.dtype == DType::F32 { 8 } else { 7 };
    // The result may be larger than the operand.
    let of_image = (size[0] * size[1]).max(IMAGE[0] * IMAGE[1]) * channels;
    let a = of.view(&[of.many(5, of_image), rows, columns, channels])?;
    let indices = (function == PlaneFunction::LargestBackward).then(|| of.view(a.shape())).transpose()?;
    PlaneProblem::new("images", function, axes, (&a, of.dtype), indices.as_ref())?.plan(of.caps)
}

const IMAGE: [usize; 2] = [13, 11];
const SHAPE: [usize; 4] = [1, IMAGE[0], IMAGE[1], 1];

/// Windows of 3 x 3 that overlap, with padding.
pub(super) fn pooled(function: PlaneFunction, of: &Of<'_>) -> Result<Plan> {
    let rounding = PoolRounding::Ceil;
    let windows = |axis| {
        let windows = AxisWindows { kernel: 3, stride: 2, dilation: 1, padding: (1, 0), rounding };
        PlaneAxis::windows("images", &SHAPE, axis, windows)
    };
    planned(function, [windows(1)?, windows(2)?], [7, 6], of)
}

pub(super) fn adaptive(function: PlaneFunction, of: &Of<'_>) -> Result<Plan> {
    let parts = |axis, size| PlaneAxis::adaptive("images", &SHAPE, axis, size);
    planned(function, [parts(1, 5)?, parts(2, 4)?], [5, 4], of)
}

pub(super) fn resized(function: PlaneFunction, of: &Of<'_>) -> Result<Plan> {
    let by = if function == PlaneFunction::Nearest { Interpolation::Nearest } else { LINEAR };
    let sampled = |axis, size| PlaneAxis::sampled("images", &SHAPE, axis, size, by);
    planned(function, [sampled(1, 6)?, sampled(2, 17)?], [6, 17], of)
}
