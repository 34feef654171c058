//! Convolutions and their gradients.

use super::Family;
use super::shapes::{Of, flat};
use tilewise::conv::{ConvGeometry, ConvOptions, Padding};
use tilewise::planning::conv::{ConvBackward, ConvGradientOf, ConvLayouts, ConvProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::{Activation, DType, Layout, Result};

/// Convolutions of every kind, which have several workgroups each.
pub const CONVOLUTIONS: [Family; 8] = [
    ("convolution", |of| forward(of, [16, 16, 8], [8, 3, 3, 8], ConvOptions::new())),
    ("convolution of three channels", |of| {
        forward(of, [17, 16, 3], [8, 3, 3, 3], ConvOptions::new().stride([2, 2]))
    }),
    ("depthwise convolution", |of| forward(of, [24, 16, 16], [16, 3, 3, 1], ConvOptions::new().groups(16))),
    ("convolution, gradient of the images", |of| gradient(of, ConvGradientOf::Input, 1)),
    ("depthwise convolution, gradient of the images", |of| gradient(of, ConvGradientOf::Input, 8)),
    ("convolution, gradient of the weight", |of| gradient(of, ConvGradientOf::Weight, 1)),
    ("convolution of volumes", |of| of_volumes(of, None)),
    ("convolution of volumes, gradient of the volumes", |of| of_volumes(of, Some(ConvGradientOf::Input))),
];

/// A convolution of volumes, or a gradient of it.
fn of_volumes(of: &Of<'_>, gradient: Option<ConvGradientOf>) -> Result<Plan> {
    let options = ConvOptions::new().padding(Padding::Explicit([[1; 2]; 3]));
    let (x, weight) = (of.rows(4, &[6, 8, 10, 8])?, flat(&[8, 3, 3, 3, 8])?);
    let geometry = ConvGeometry::new("test", &x, &weight, &options)?;
    match gradient {
        None => {
            let layouts =
                ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: None };
            ConvProblem::new(layouts, &options, Activation::Silu, DType::F32)?.plan(of.caps)
        }
        Some(which) => {
            let other = if which == ConvGradientOf::Input { &weight } else { &x };
            let y = flat(&geometry.output_shape())?;
            ConvBackward::new("test", &geometry, which, [other, &y], DType::F32)?.plan(of.caps)
        }
    }
}

/// A convolution with all operands of the epilogue.
fn forward(of: &Of<'_>, image: [usize; 3], weight: [usize; 4], options: ConvOptions) -> Result<Plan> {
    let options = options.padding(Padding::Explicit([[1; 2]; 2]));
    let (x, weight) = (of.rows(4, &image)?, flat(&weight)?);
    let geometry = ConvGeometry::new("test", &x, &weight, &options)?;
    let (channels, y) = (flat(&[geometry.outputs])?, flat(&geometry.output_shape())?);
    let layouts = ConvLayouts {
        x: &x,
        weight: &weight,
        bias: Some((&channels, DType::F32)),
        scale_shift: Some([&channels, &channels]),
        residual: Some(&y),
    };
    ConvProblem::new(layouts, &options, Activation::Silu, DType::F32)?.plan(of.caps)
}

fn gradient(of: &Of<'_>, which: ConvGradientOf, groups: usize) -> Result<Plan> {
    let options = ConvOptions::new().padding(Padding::Explicit([[1; 2]; 2])).stride([1, 2]).groups(groups);
    let (x, weight) = (of.rows(4, &[16, 16, 8])?, flat(&[8, 3, 3, 8 / groups])?);
    let geometry = ConvGeometry::new("test", &x, &weight, &options)?;
    let y = flat(&geometry.output_shape())?;
    let other: &Layout = if which == ConvGradientOf::Input { &weight } else { &x };
    ConvBackward::new("test", &geometry, which, [other, &y], DType::F32)?.plan(of.caps)
}
