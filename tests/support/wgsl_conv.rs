//! Convolutions whose plans need every kernel of theirs.

use super::laid::{flat, view};
use super::wgsl::kernels_of_all;
use tilewise::conv::{ConvGeometry, ConvOptions, Padding};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::gpu::DeviceType;
use tilewise::planning::conv::{
    ConvBackward, ConvGradientOf, ConvKernels, ConvLayouts, ConvProblem, QuantisedConvProblem,
};
use tilewise::planning::gemm::Pin;
use tilewise::planning::kernel::Kernel;
use tilewise::planning::{Plan, Problem};
use tilewise::{Activation, Caps, DType, Layout, Result};

/// The kernels of products with windows that have texts.
const PRODUCTS: [GemmKernel; 3] = [GemmKernel::Tiled, GemmKernel::Broadcast, GemmKernel::Coop];

/// A convolution with all operands of the epilogue, some, or none, by each kernel that can compute it, and its gradients. Volumes have
/// no kernels but those of products.
pub fn conv_plans<const D: usize>(
    [x, weight]: [&Layout; 2],
    options: &ConvOptions<D>,
    dtype: DType,
    caps: &Caps,
) -> Vec<Result<Plan>> {
    let geometry = match ConvGeometry::new("test", x, weight, options) {
        Ok(geometry) => geometry,
        Err(error) => return vec![Err(error)],
    };
    let outputs = view(&[geometry.outputs], &[1], 3);
    if dtype == DType::I8 {
        // Of images alone.
        let ConvGeometry { batch, channels, outputs: of_y, groups, axes } = geometry;
        let Ok(axes) = axes[..].try_into() else { return Vec::new() };
        let geometry = ConvGeometry { batch, channels, outputs: of_y, groups, axes };
        return quantised_plans(&geometry, [x, weight], &outputs, caps);
    }
    let y = flat(&results(&geometry));
    let plain = ConvLayouts { x, weight, bias: None, scale_shift: None, residual: None };
    let scaled = ConvLayouts { scale_shift: Some([&outputs, &outputs]), residual: Some(&y), ..plain };
    let full = ConvLayouts { bias: Some((&outputs, dtype)), ..scaled };
    let of = |layouts, kernels| {
        ConvProblem::new(layouts, options, Activation::Silu, dtype)?.by(kernels).plan(caps)
    };
    let direct = [plain, full].map(|layouts| of(layouts, ConvKernels::Direct));
    let direct = direct.into_iter().filter(|_| D == 2);
    // Not every kernel can compute every convolution.
    let products = PRODUCTS.into_iter().flat_map(|kernel| {
        [plain, scaled, full]
            .map(|layouts| of(layouts, ConvKernels::Product(Pin::Kernel(kernel), SplitK::Auto)))
    });
    let forward = direct.chain(products.filter(Result::is_ok));
    let gradient = |of, other: &Layout| ConvBackward::new("test", &geometry, of, [other, &y], dtype);
    let channels = view(&[geometry.channels], &[1], 3);
    let backward = |kernels| {
        [
            gradient(ConvGradientOf::Input, weight).and_then(|problem| problem.by(kernels).plan(caps)),
            gradient(ConvGradientOf::Input, weight)
                .and_then(|problem| problem.bias(&channels)?.by(kernels).plan(caps)),
            gradient(ConvGradientOf::Weight, x).and_then(|problem| problem.by(kernels).plan(caps)),
        ]
    };
    let products = PRODUCTS.into_iter().flat_map(|kernel| {
        let kernels = ConvKernels::Product(Pin::Kernel(kernel), SplitK::Auto);
        backward(kernels).into_iter().filter(Result::is_ok)
    });
    let direct = backward(ConvKernels::Direct).into_iter().filter(|_| D == 2);
    forward.chain(direct).chain(products).collect()
}

/// The shape of the result.
fn results<const D: usize>(geometry: &ConvGeometry<D>) -> Vec<usize> {
    let extents = geometry.axes.iter().map(|axis| axis.output);
    [geometry.batch].into_iter().chain(extents).chain([geometry.outputs]).collect()
}

/// Convolutions of i8 as exact sums, and requantised with all operands of the epilogue.
fn quantised_plans(
    geometry: &ConvGeometry,
    operands: [&Layout; 2],
    vector: &Layout,
    caps: &Caps,
) -> Vec<Result<Plan>> {
    let problem = |c| QuantisedConvProblem::new(geometry, operands, c).ok();
    let scaled = problem(DType::I8).map(|problem| {
        let scaled = problem.channel_scales(vector).expect("it has that length").scaled(0.5);
        scaled.bias(vector).expect("it has that length")
    });
    let pinned = |problem: QuantisedConvProblem| {
        let product = problem.product().expect("it was checked");
        product.pinned(Pin::Kernel(GemmKernel::Dot)).plan(caps)
    };
    problem(DType::I32).into_iter().chain(scaled).map(pinned).filter(Result::is_ok).collect()
}

/// Every kernel of convolutions on a device: all types, groups, with and without vectors, and tiles of several taps.
pub fn conv_kernels(caps: &Caps) -> Vec<Kernel> {
    let padding = Padding::Explicit([[1; 2]; 2]);
    let cases = [
        ([1, 9, 9, 8], [8, 3, 3, 8], 1, [1, 1]),
        ([1, 9, 9, 8], [8, 3, 3, 1], 8, [2, 1]),
        ([1, 9, 9, 6], [6, 3, 2, 1], 6, [1, 1]),
        ([1, 9, 9, 8], [8, 5, 5, 1], 8, [1, 1]),
        ([1, 9, 9, 6], [6, 3, 3, 2], 3, [1, 2]),
        ([1, 9, 9, 16], [16, 3, 3, 8], 2, [1, 1]),
        ([1, 9, 9, 3], [5, 3, 3, 3], 1, [2, 2]),
    ];
    let devices = [caps.clone(), caps.clone().planned_for(DeviceType::Discrete)];
    let mut plans = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::I8] {
        for (x, weight, groups, stride) in cases {
            let options = ConvOptions::new().groups(groups).stride(stride).padding(padding);
            let first = flat(&[x[0], x[3], x[1], x[2]]).permute(&[0, 2, 3, 1]).expect("four axes");
            for (x, caps) in [flat(&x), first].iter().flat_map(|x| devices.iter().map(move |caps| (x, caps)))
            {
                // Not every device has as many bindings.
                plans.extend(conv_plans([x, &flat(&weight)], &options, dtype, caps).into_iter().flatten());
            }
        }
        for (channels, groups) in [(8, 1), (6, 1), (16, 2)] {
            let options = ConvOptions::new().groups(groups).stride([1, 2, 1]);
            let options = options.padding(Padding::Explicit([[1; 2]; 3]));
            let (x, weight) = (flat(&[1, 5, 6, 4, channels]), flat(&[8, 3, 3, 3, channels / groups]));
            for caps in &devices {
                plans.extend(conv_plans([&x, &weight], &options, dtype, caps).into_iter().flatten());
            }
        }
    }
    kernels_of_all(plans)
}
