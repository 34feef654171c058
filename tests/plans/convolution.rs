//! Convolutions as devices with matrix units compute them: as products of windows, which are never stored.

use std::collections::BTreeSet;
use tilewise::conv::{ConvGeometry, ConvOptions, Padding, SamePadding};
use tilewise::planning::conv::{
    ConvBackward, ConvGradientOf, ConvLayouts, ConvProblem, QuantisedConvProblem,
};
use tilewise::planning::{Problem, fixtures};
use tilewise::{Activation, DType, Error, Layout};

/// Output channels of each layer, after the channels of its images: multiples of no unit, as networks for small devices have them,
/// and of 16.
const CHANNELS: [[usize; 2]; 4] = [[3, 67], [67, 129], [129, 251], [64, 64]];

/// A convolution of 3 x 3 with a batch norm and an activation.
fn block([channels, outputs]: [usize; 2], dtype: DType) -> ConvProblem {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).unwrap();
    let (x, weight) = (layout(&[4, 56, 56, channels]), layout(&[outputs, 3, 3, channels]));
    let of_channel = layout(&[outputs]);
    let options = ConvOptions::<2>::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
    let layouts = ConvLayouts {
        x: &x,
        weight: &weight,
        bias: None,
        scale_shift: Some([&of_channel; 2]),
        residual: None,
    };
    ConvProblem::new(layouts, &options, Activation::Silu, dtype).unwrap()
}

/// Devices without matrix units that plans use, for these types.
const WITHOUT: [(&str, DType); 13] = [
    ("t4", DType::Bf16),
    ("radv-rdna3", DType::Bf16),
    ("v100", DType::F16),
    ("v100", DType::Bf16),
    ("apple-m2", DType::Bf16),
    ("lavapipe", DType::F16),
    ("lavapipe", DType::Bf16),
    ("swiftshader", DType::F16),
    ("swiftshader", DType::Bf16),
    ("bare-webgpu", DType::F16),
    ("bare-webgpu", DType::Bf16),
    ("bare-vulkan", DType::F16),
    ("bare-vulkan", DType::Bf16),
];

#[test]
fn blocks_run_on_matrix_units_without_copies() {
    let mut without = Vec::new();
    for (name, caps) in fixtures::ALL.map(|(name, caps)| (name, caps())) {
        for dtype in [DType::F16, DType::Bf16] {
            let problems = CHANNELS.map(|channels| block(channels, dtype));
            let plans = problems.map(|problem| problem.plan(&caps).unwrap());
            let shares = [0, 1, 2, 3].map(|at| plans[at].work().flops.matrix / problems[at].flops());
            if shares == [0.0; 4] {
                without.push((name, dtype));
            } else {
                assert_eq!(shares, [1.0; 4], "{name}, {dtype}");
            }
            // A device of four bindings applies the epilogue in a second launch.
            let counts = if caps.limits.storage_bindings < 5 { [2, 1] } else { [1, 0] };
            for (plan, [channels, outputs]) in plans.iter().zip(CHANNELS) {
                let kernels: BTreeSet<String> =
                    plan.steps().iter().map(|step| step.kernel.to_string()).collect();
                assert_eq!([kernels.len(), plan.temporaries().len()], counts, "{name}: {plan}");
                // In one launch each operand is read once: the images, the weight, scale and shift in f32; and at most two words in
                // place of operands that the kernel could have.
                let pixels = 4 * 56 * 56;
                let read = (2 * channels * (pixels + 9 * outputs) + 2 * 4 * outputs) as u64;
                if counts[0] == 1 {
                    let work = plan.work();
                    assert!((read..=read + 8).contains(&work.read.iter().sum()), "{name}: {read}: {plan}");
                    assert_eq!(work.written, [2 * (pixels * outputs) as u64], "{name}: {plan}");
                }
            }
        }
    }
    assert_eq!(without, WITHOUT);
}

/// Groups of 32 channels are a batch of products, and a bias next to a batch norm is part of the epilogue.
#[test]
fn groups_and_a_bias_next_to_a_batch_norm_run_on_matrix_units_in_one_launch() {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).unwrap();
    let of_channel = layout(&[256]);
    let options = ConvOptions::<2>::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
    for caps in [fixtures::h200(), fixtures::a100(), fixtures::radv_rdna3()] {
        for groups in [1, 8] {
            let layouts = ConvLayouts {
                x: &layout(&[4, 56, 56, 256]),
                weight: &layout(&[256, 3, 3, 256 / groups]),
                bias: Some((&of_channel, DType::F16)),
                scale_shift: Some([&of_channel; 2]),
                residual: None,
            };
            let problem = ConvProblem::new(layouts, &options.groups(groups), Activation::Silu, DType::F16);
            let problem = problem.unwrap();
            let plan = problem.plan(&caps).unwrap();
            assert_eq!(plan.work().flops.matrix, problem.flops(), "{plan}");
            assert_eq!([plan.steps().len(), plan.temporaries().len()], [1, 0], "{plan}");
        }
    }
}

/// Windows of i8 are multiplied by integer matrices where modules of SPIR-V have them, and by dot products elsewhere.
#[test]
fn convolutions_of_i8_run_on_integer_matrices() {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).unwrap();
    let (x, weight) = (layout(&[4, 56, 56, 64]), layout(&[64, 3, 3, 64]));
    let geometry = ConvGeometry::new("test", &x, &weight, &ConvOptions::<2>::new()).unwrap();
    for (caps, kernel) in [
        (fixtures::h200(), "spirv/gemm_coop_khr.i8_windows"),
        (fixtures::rtx_3090(), "spirv/gemm_coop_khr.i8_windows"),
        (fixtures::bare_webgpu(), "gemm/dot"),
    ] {
        for c in [DType::I32, DType::I8] {
            let problem = QuantisedConvProblem::new(&geometry, [&x, &weight], c).unwrap();
            let plan = problem.plan(&caps).unwrap();
            assert!(plan.to_string().contains(kernel), "{plan}");
            assert_eq!([plan.steps().len(), plan.temporaries().len()], [1, 0], "{plan}");
        }
    }
}

/// Volumes have no depth that costs a launch or memory: forward and both gradients run on matrix units, as images do.
#[test]
fn volumes_run_on_matrix_units_without_copies() {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).unwrap();
    let options = ConvOptions::<3>::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
    let (x, weight) = (layout(&[2, 16, 28, 28, 64]), layout(&[64, 3, 3, 3, 64]));
    let geometry = ConvGeometry::new("test", &x, &weight, &options).unwrap();
    let y = layout(&geometry.output_shape());
    for caps in [fixtures::h200(), fixtures::a100(), fixtures::radv_rdna3()] {
        let layouts = ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: None };
        let problem = ConvProblem::new(layouts, &options, Activation::Silu, DType::F16).unwrap();
        let plan = problem.plan(&caps).unwrap();
        assert_eq!(plan.work().flops.matrix, problem.flops(), "{plan}");
        assert_eq!([plan.steps().len(), plan.temporaries().len()], [1, 0], "{plan}");
        for (of, other) in [(ConvGradientOf::Input, &weight), (ConvGradientOf::Weight, &x)] {
            let problem = ConvBackward::new("test", &geometry, of, [other, &y], DType::F16).unwrap();
            let plan = problem.plan(&caps).unwrap();
            assert_eq!(plan.work().flops.matrix, problem.flops(), "{plan}");
            let bytes: u64 = plan.temporaries().iter().sum();
            assert!(bytes < 1 << 20 && plan.steps().len() == 1 + plan.temporaries().len(), "{plan}");
        }
    }
}

/// The gradients of a convolution of 3 x 3 with these groups and strides.
fn gradients(
    [channels, outputs]: [usize; 2],
    (groups, stride): (usize, usize),
    dtype: DType,
) -> [ConvBackward; 2] {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).unwrap();
    let (x, weight) = (layout(&[4, 56, 56, channels]), layout(&[outputs, 3, 3, channels / groups]));
    let options = ConvOptions::<2>::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
    let options = options.groups(groups).stride([stride; 2]);
    let geometry = ConvGeometry::new("test", &x, &weight, &options).unwrap();
    let grad = layout(&geometry.output_shape());
    [(ConvGradientOf::Input, &weight), (ConvGradientOf::Weight, &x)]
        .map(|(of, other)| ConvBackward::new("test", &geometry, of, [other, &grad], dtype).unwrap())
}

/// Where blocks run on matrix units, their gradients do. Sums of splits take less than a mebibyte; nothing else is stored. The gradient
/// of images of three channels is left out: of a product's block, three columns would be used.
#[test]
fn gradients_run_on_matrix_units_without_copies() {
    let mut without = Vec::new();
    for (name, caps) in fixtures::ALL.map(|(name, caps)| (name, caps())) {
        for dtype in [DType::F16, DType::Bf16] {
            let problems: Vec<_> = CHANNELS
                .into_iter()
                .flat_map(|channels| gradients(channels, (1, 1), dtype))
                .skip(1)
                .collect();
            let plans: Vec<_> = problems.iter().map(|problem| problem.plan(&caps).unwrap()).collect();
            let is_on_matrices = |at: usize| plans[at].work().flops.matrix >= problems[at].flops();
            match (0..plans.len()).filter(|&at| is_on_matrices(at)).count() {
                0 => without.push((name, dtype)),
                count => assert_eq!(count, plans.len(), "{name}, {dtype}"),
            }
            for plan in plans {
                let bytes: u64 = plan.temporaries().iter().sum();
                assert!(bytes < 1 << 20 && plan.temporaries().len() <= 1, "{name}: {plan}");
                let kernels: BTreeSet<String> =
                    plan.steps().iter().map(|step| step.kernel.to_string()).collect();
                assert_eq!(kernels.len(), 1 + plan.temporaries().len(), "{name}: {plan}");
            }
        }
    }
    assert_eq!(without, WITHOUT);
}

/// Gradients of groups are one launch, and with strides one for each phase, with little memory as those of one group.
#[test]
fn gradients_of_groups_run_on_matrix_units() {
    for caps in [fixtures::h200(), fixtures::a100(), fixtures::radv_rdna3()] {
        for (dtype, stride) in [(DType::F16, 1), (DType::F16, 2)] {
            for problem in gradients([256, 256], (8, stride), dtype) {
                let plan = problem.plan(&caps).unwrap();
                assert!(plan.work().flops.matrix >= problem.flops(), "{plan}");
                let (bytes, phases) = (plan.temporaries().iter().sum::<u64>(), stride * stride);
                assert!(bytes < 1 << 20, "{plan}");
                let launches = plan.steps().len() - plan.temporaries().len();
                assert!(launches <= phases, "{plan}");
            }
        }
    }
}

/// A weight whose outputs have gaps is read in place, and one that is stored channels first, too: no kernel but that of the product.
#[test]
fn weights_with_gaps_and_weights_stored_channels_first_are_products_without_copies() {
    let caps = fixtures::h200();
    let x = Layout::contiguous("test", &[4, 56, 56, 64]).unwrap();
    let plan = |weight: &Layout| {
        let layouts = ConvLayouts { x: &x, weight, bias: None, scale_shift: None, residual: None };
        let problem = ConvProblem::new(layouts, &ConvOptions::<2>::new(), Activation::None, DType::F16);
        problem.unwrap().explain(&caps).unwrap()
    };
    let twice = Layout::contiguous("test", &[128, 3, 3, 64]).unwrap();
    let gaps = Layout::new("test", &[64, 3, 3, 64], &[2 * 576, 192, 64, 1], 0, twice.len()).unwrap();
    let product = plan(&gaps);
    assert!(product.work().flops.matrix > 0.0, "{product}");
    let first = Layout::contiguous("test", &[64, 64, 3, 3]).unwrap().permute(&[0, 2, 3, 1]).unwrap();
    let product = plan(&first);
    assert!(product.work().flops.matrix > 0.0, "{product}");
    assert_eq!([product.steps().len(), product.temporaries().len()], [1, 0], "{product}");
}

fn layout(shape: &[usize]) -> Layout {
    Layout::contiguous("test", shape).unwrap()
}

/// What is no product as a whole is planned by another kernel, or in parts: it is explained and tuned all the same.
#[test]
fn convolutions_that_are_no_product_as_a_whole_are_explained_and_tuned() {
    let mut caps = fixtures::h200();
    caps.limits.binding_bytes = 128 << 20;
    // A window has more elements than products divide.
    let (x, weight) = (layout(&[1, 1100, 1100, 3]), layout(&[1, 1024, 1024, 3]));
    let layouts = ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: None };
    let problem = ConvProblem::new(layouts, &ConvOptions::<2>::new(), Activation::None, DType::F16).unwrap();
    let plan = problem.explain(&caps).unwrap();
    assert!(plan.reasons().iter().any(|why| why.starts_with("kernels of products: ")), "{plan}");
    assert_eq!(problem.candidates(&caps).unwrap().len(), 1);
    assert!(problem.trial(&caps).unwrap().is_none());
    // Images of i8 are cut into parts.
    let (x, weight) = (layout(&[4096, 64, 64, 64]), layout(&[64, 3, 3, 64]));
    let geometry = ConvGeometry::new("test", &x, &weight, &ConvOptions::<2>::new()).unwrap();
    let problem = QuantisedConvProblem::new(&geometry, [&x, &weight], DType::I8).unwrap();
    let plan = problem.plan(&caps).unwrap();
    assert!(plan.steps().len() > 1, "{plan}");
    let candidates = problem.candidates(&caps).unwrap();
    assert_eq!(candidates[0], plan);
    problem.trial(&caps).unwrap();
}

/// A residual with gaps is copied before a product of volumes, which has the candidates of one without.
#[test]
fn volumes_with_a_residual_with_gaps_are_products() {
    let caps = fixtures::h200();
    let (x, weight) = (layout(&[2, 8, 14, 14, 64]), layout(&[64, 3, 3, 3, 64]));
    let residual = layout(&[2, 64, 6, 12, 12]).permute(&[0, 2, 3, 4, 1]).unwrap();
    let layouts =
        ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: Some(&residual) };
    let problem = ConvProblem::new(layouts, &ConvOptions::<3>::new(), Activation::None, DType::F16).unwrap();
    let plan = problem.explain(&caps).unwrap();
    assert!(plan.work().flops.matrix >= problem.flops(), "{plan}");
    assert!(!plan.reasons().iter().any(|why| why.starts_with("kernels of products: ")), "{plan}");
    let candidates = problem.candidates(&caps).unwrap();
    assert!(candidates.len() > 1 && problem.trial(&caps).unwrap().is_some());
    let seconds: Vec<f64> = candidates[1..].iter().map(tilewise::planning::Plan::seconds).collect();
    assert!(seconds.is_sorted(), "{seconds:?}");
}

fn gradient_of_volumes(
    x: [usize; 5],
    [outputs, taps, stride, groups]: [usize; 4],
) -> tilewise::planning::Plan {
    let (x, weight) = (layout(&x), layout(&[outputs, taps, taps, taps, x[4] / groups]));
    let options = ConvOptions::<3>::new().stride([stride; 3]).groups(groups);
    let geometry = ConvGeometry::new("test", &x, &weight, &options).unwrap();
    let grad = layout(&geometry.output_shape());
    let of = ConvGradientOf::Input;
    let problem = ConvBackward::new("test", &geometry, of, [&weight, &grad], DType::F16).unwrap();
    problem.plan(&fixtures::h200()).unwrap()
}

/// Pixels that no tap reads are filled once; groups with strides are a product for each phase and plane, if there are more groups.
#[test]
fn gradients_of_volumes_with_strides_have_few_launches() {
    let plan = gradient_of_volumes([1, 64, 64, 64, 16], [16, 1, 64, 1]);
    let products = plan.steps().len() - plan.temporaries().len();
    assert_eq!(products, 2, "{plan}");
    let plan = gradient_of_volumes([8, 17, 17, 17, 256], [256, 3, 2, 256]);
    assert!(plan.steps().len() <= 8 * 8 * 9, "{} launches", plan.steps().len());
}

/// Pixels at equal distances are the rows of a matrix, with gaps between them too.
#[test]
fn gradients_of_some_of_the_channels_run_on_matrix_units() {
    let (x, weight) = (layout(&[4, 28, 28, 64]), layout(&[64, 3, 3, 64]));
    let options = ConvOptions::<2>::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
    let geometry = ConvGeometry::new("test", &x, &weight, &options).unwrap();
    let grad = layout(&[4, 28, 28, 128]).slice(3, 64..128).unwrap();
    let of = ConvGradientOf::Weight;
    let problem = ConvBackward::new("test", &geometry, of, [&x, &grad], DType::F16).unwrap();
    let plan = problem.plan(&fixtures::h200()).unwrap();
    assert!(plan.work().flops.matrix >= problem.flops(), "{plan}");
}

/// Problems that no call makes are refused.
#[test]
fn shapes_that_are_not_those_of_the_convolution_are_refused() {
    let is_shape = |error| matches!(error, Some(Error::Shape { .. }));
    let (x, weight) = (layout(&[1, 2, 3, 4, 5, 6]), layout(&[6, 1, 1, 1, 1, 6]));
    let layouts = ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: None };
    let four = ConvOptions::<4>::new();
    assert!(is_shape(ConvProblem::new(layouts, &four, Activation::None, DType::F32).err()));
    let geometry = ConvGeometry::new("test", &x, &weight, &four).unwrap();
    let of = ConvGradientOf::Weight;
    assert!(is_shape(ConvBackward::new("test", &geometry, of, [&x, &x], DType::F32).err()));
    let (x, weight) = (layout(&[1, 5, 6, 8]), layout(&[4, 3, 3, 8]));
    let geometry = ConvGeometry::new("test", &x, &weight, &ConvOptions::<2>::new()).unwrap();
    for (x, weight) in [(&weight, &weight), (&x, &x)] {
        assert!(is_shape(QuantisedConvProblem::new(&geometry, [x, weight], DType::I32).err()));
    }
}

/// One tap has no next one, however far that would be.
#[test]
fn a_kernel_of_one_tap_has_no_dilation() {
    let (x, weight) = (layout(&[1, 6, 6, 8]), layout(&[8, 1, 1, 8]));
    let plans = |dilation| {
        let options = ConvOptions::<2>::new().stride([2; 2]).dilation([dilation; 2]);
        let geometry = ConvGeometry::new("test", &x, &weight, &options).unwrap();
        let grad = layout(&geometry.output_shape());
        [(ConvGradientOf::Input, &weight), (ConvGradientOf::Weight, &x)].map(|(of, other)| {
            let problem = ConvBackward::new("test", &geometry, of, [other, &grad], DType::F16).unwrap();
            problem.plan(&fixtures::h200()).unwrap()
        })
    };
    assert_eq!(plans(usize::MAX), plans(1));
}
