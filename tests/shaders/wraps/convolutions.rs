//! Convolutions and their gradients, as large as they may be.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use support::laid::view;
use support::wgsl_conv::conv_plans;
use tilewise::conv::{ConvOptions, Padding};
use tilewise::gpu::DeviceType;
use tilewise::{Caps, DType, Layout};

/// Images, a weight, the groups and the options.
type Case = ([usize; 4], [usize; 4], usize, ConvOptions);

fn cases(elements: usize) -> [Case; 18] {
    let padded = |by| ConvOptions::new().padding(Padding::Explicit([[by; 2]; 2]));
    let most = elements / 8;
    [
        ([1, 1 << 14, most / (1 << 14), 4], [4, 3, 3, 4], 1, padded(1)),
        ([most / 64, 8, 8, 8], [8, 3, 3, 8], 1, padded(1)), // units of f16
        ([1, 1, most, 4], [4, 1, 3, 4], 1, padded(1)),
        ([1, most, 1, 4], [4, 3, 1, 4], 1, padded(1)),
        ([1, 1, 1, most], [4, 1, 1, most], 1, padded(0)),
        ([1, 1, 1, 4], [most, 1, 1, 4], 1, padded(0)),
        ([1, 64, most / 1024, 16], [16, 3, 3, 1], 16, padded(1)),
        ([1, 64, most / 1024, 16], [16, 5, 5, 1], 16, padded(2).stride([1, 3])),
        ([1, 100, most / 300, 3], [5, 3, 3, 3], 1, padded(1).stride([2, 2])),
        ([1, 10, 10, most / 300 * 3], [most / 300 * 2, 1, 1, 3], most / 300, padded(0)),
        // Far strides, dilations and paddings.
        ([1, 4, 5, 4], [4, 3, 3, 4], 1, padded((1 << 29) - 8).stride([1 << 20; 2]).dilation([1 << 20; 2])),
        (
            [1, 4, 5, 4],
            [4, 3, 3, 4],
            1,
            padded((1 << 29) - 8).stride([1 << 29, 1 << 21]).dilation([1, 1 << 28]),
        ),
        (
            [1, 4, 5, 3],
            [3, 2, 2, 1],
            3,
            padded((1 << 29) - 8).stride([1 << 28, 3 << 20]).dilation([1 << 29, 7]),
        ),
        ([1, 64, most / 1024, 12], [12, 3, 3, 12], 1, padded(1)), // elements of f16
        ([1, most / 4, 4, 4], [4, most / 4, 1, 4], 1, padded(0)),
        ([1, 64, most / 2048, 32], [32, 3, 3, 8], 4, padded(1)),
        ([1, 64, most / 1024, 16], [16, 3, 3, 1], 16, padded(1).stride([2, 1])),
        ([1, 4, 5, 4], [4, 3, 3, 1], 4, padded((1 << 29) - 8).stride([1 << 20; 2]).dilation([1 << 20; 2])),
    ]
}

pub(crate) fn launches() -> Vec<Launch> {
    let devices = [caps().planned_for(DeviceType::Discrete), caps(), bare()];
    let mut launches = of_volumes(&devices);
    launches.extend(of_words(&devices[1]));
    // Each case has one type: the types differ in how elements are loaded and stored, which other families run.
    for (which, dtype) in [DType::F32, DType::F16, DType::Bf16, DType::I8].into_iter().enumerate() {
        let cases = cases(WINDOW / dtype.size()).into_iter().enumerate();
        let has_it = |at: usize| if dtype == DType::I8 { at % 5 == 1 } else { at % 3 == which };
        for (at, (x, weight, groups, options)) in cases.filter(|(at, _)| has_it(*at)) {
            // From odd elements on, and from the first.
            let of = |[a, b, c, d]: [usize; 4], offset| -> Layout {
                view(&[a, b, c, d], &[b * c * d, c * d, d, 1], offset)
            };
            let offset = if at % 2 == 0 { 63 } else { 0 };
            let what = format!("convolution of {dtype} {x:?} by {weight:?} with {options:?}");
            let (x, weight) = (of(x, offset), of(weight, offset));
            let caps = &devices[at / 3 % 3];
            for plan in conv_plans([&x, &weight], &options.groups(groups), dtype, caps) {
                launches.extend(Launch::planned(&what, plan));
            }
        }
    }
    launches
}

/// A depthwise convolution of f16 on a software device, which moves them as words.
fn of_words(caps: &Caps) -> Vec<Launch> {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).unwrap();
    let (x, weight) = (layout(&[1, 64, WINDOW / 2048, 16]), layout(&[16, 3, 3, 1]));
    let options = ConvOptions::new().padding(Padding::Explicit([[1; 2]; 2])).groups(16);
    let what = "depthwise convolution of words of f16";
    conv_plans([&x, &weight], &options, DType::F16, caps)
        .into_iter()
        .flat_map(|plan| Launch::planned(what, plan))
        .collect()
}

/// Volumes of many planes, of one axis alone, and with far strides, dilations and paddings.
fn of_volumes(devices: &[Caps]) -> Vec<Launch> {
    let most = WINDOW / 32;
    let padded = |by| ConvOptions::<3>::new().padding(Padding::Explicit([[by; 2]; 3]));
    let far = padded((1 << 29) - 8);
    let cases = [
        ([1, most / 1024, 16, 16, 4], [4, 3, 3, 3, 4], padded(1)),
        ([most / 512, 8, 8, 8, 3], [5, 3, 2, 3, 3], padded(1).stride([2, 1, 2])),
        ([1, most, 1, 1, 4], [4, 3, 1, 1, 4], padded(1)),
        ([1, 4, 3, 5, 4], [4, 3, 3, 3, 4], far.stride([(1 << 15) - 1, 1 << 28, 1 << 27])),
        (
            [1, 4, 3, 5, 4],
            [4, 2, 3, 2, 4],
            far.stride([1 << 14, 1 << 27, 1 << 27]).dilation([1 << 14, 1 << 28, 1]),
        ),
    ];
    let mut launches = Vec::new();
    for (at, (x, weight, options)) in cases.into_iter().enumerate() {
        let dtype = [DType::F32, DType::F16, DType::Bf16][at % 3];
        let of = |shape: [usize; 5]| Layout::contiguous("test", &shape).unwrap();
        let what = format!("convolution of {dtype} {x:?} by {weight:?} with {options:?}");
        for plan in conv_plans([&of(x), &of(weight)], &options, dtype, &devices[at % devices.len()]) {
            launches.extend(Launch::planned(&what, plan));
        }
    }
    launches
}
