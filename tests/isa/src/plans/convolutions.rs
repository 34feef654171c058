//! Convolutions as in networks for images: with a batch norm and `SiLU` in their launch, three channels and odd ones, one pixel,
//! depthwise, and their gradients; groups, volumes and i8.

use super::{FITS, List, flat};
use tilewise::conv::{ConvGeometry, ConvOptions, Padding};
use tilewise::planning::conv::{
    ConvBackward, ConvGradientOf, ConvLayouts, ConvProblem, QuantisedConvProblem,
};
use tilewise::{Activation, DType};

/// Channels, output channels, and height and width of the kernel.
const BLOCKS: [[usize; 3]; 5] = [[64, 64, 3], [3, 67, 3], [67, 129, 3], [129, 251, 3], [64, 256, 1]];
/// Images, height and width.
const IMAGES: [usize; 3] = [4, 56, 56];

/// Adds the plans.
pub(super) fn add(plans: &mut List<'_>) {
    let [images, height, width] = IMAGES;
    let (x, weight) = (flat(&[images, height, width, 64]), flat(&[64, 3, 3, 64]));
    let geometry = ConvGeometry::new("isa", &x, &weight, &options(3, 1)).expect(FITS);
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        for [channels, outputs, kernel] in BLOCKS {
            let name = format!("conv {dtype}, {kernel}x{kernel} {channels} to {outputs}");
            plans.add("conv", &name, &block([channels, outputs, kernel], 1, dtype));
        }
        plans.add("conv", &format!("conv {dtype}, depthwise 3x3"), &block([128, 128, 3], 128, dtype));
        plans.add(
            "conv",
            &format!("conv {dtype}, 3x3 128 to 128, 4 groups"),
            &block([128, 128, 3], 4, dtype),
        );
        plans.add("conv", &format!("conv {dtype}, 3x3x3 64 to 64"), &volumes(dtype));
        for (of, other, name) in
            [(ConvGradientOf::Input, &weight, "images"), (ConvGradientOf::Weight, &x, "weight")]
        {
            let problem = ConvBackward::new("isa", &geometry, of, [other, &x], dtype).expect(FITS);
            plans.add("conv", &format!("conv {dtype}, gradient of the {name}"), &problem);
        }
    }
    for (c, name) in [(DType::I32, "sums"), (DType::I8, "requantised")] {
        let problem = QuantisedConvProblem::new(&geometry, [&x, &weight], c).expect(FITS);
        plans.add("conv", &format!("conv i8, 3x3 64 to 64, {name}"), &problem);
    }
}

fn options(kernel: usize, groups: usize) -> ConvOptions {
    ConvOptions::new().padding(Padding::Explicit([[kernel / 2; 2]; 2])).groups(groups)
}

fn block([channels, outputs, kernel]: [usize; 3], groups: usize, dtype: DType) -> ConvProblem {
    let [images, height, width] = IMAGES;
    let of_channels = flat(&[outputs]);
    let layouts = ConvLayouts {
        x: &flat(&[images, height, width, channels]),
        weight: &flat(&[outputs, kernel, kernel, channels / groups]),
        bias: None,
        scale_shift: Some([&of_channels; 2]),
        residual: None,
    };
    ConvProblem::new(layouts, &options(kernel, groups), Activation::Silu, dtype).expect(FITS)
}

/// Volumes of 3 x 3 x 3 taps.
fn volumes(dtype: DType) -> ConvProblem {
    let (x, weight) = (flat(&[1, 16, 28, 28, 64]), flat(&[64, 3, 3, 3, 64]));
    let layouts = ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: None };
    let options = ConvOptions::<3>::new().padding(Padding::Explicit([[1; 2]; 3]));
    ConvProblem::new(layouts, &options, Activation::Silu, dtype).expect(FITS)
}
