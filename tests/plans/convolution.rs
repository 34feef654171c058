//! Convolutions as devices with matrix units compute them: as products of windows, which are never stored.

use std::collections::BTreeSet;
use tilewise::conv::{ConvOptions, Padding, SamePadding};
use tilewise::planning::conv::{ConvLayouts, ConvProblem};
use tilewise::planning::{Problem, fixtures};
use tilewise::{Activation, DType, Layout};

/// Output channels of each layer, after the channels of its images: multiples of no unit, as networks for small devices have them,
/// and of 16.
const CHANNELS: [[usize; 2]; 4] = [[3, 67], [67, 129], [129, 251], [64, 64]];

/// A convolution of 3 x 3 with a batch norm and an activation.
fn block([channels, outputs]: [usize; 2], dtype: DType) -> ConvProblem {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).unwrap();
    let (x, weight) = (layout(&[4, 56, 56, channels]), layout(&[outputs, 3, 3, channels]));
    let of_channel = layout(&[outputs]);
    let options = ConvOptions::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
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
            for plan in plans {
                let kernels: BTreeSet<String> =
                    plan.steps().iter().map(|step| step.kernel.to_string()).collect();
                assert_eq!([kernels.len(), plan.temporaries().len()], counts, "{name}: {plan}");
            }
        }
    }
    assert_eq!(without, WITHOUT);
}
