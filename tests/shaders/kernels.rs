//! The kernels that the tests look at: in every form that a plan can give them.

use std::collections::HashSet;
use support::failure::{Kind, fails};
use support::laid::flat;
use support::on_view::{self, On};
use support::operand::View;
use support::plans;
use support::wgsl::{self, FP8, I8, TYPES};
use support::wgsl_conv::conv_kernels;
use tilewise::gemm::{Accumulator, GemmKernel, Tile};
use tilewise::gpu::{DeviceType, MatrixOrder, SubgroupSizes};
use tilewise::planning::gemm::{GemmProblem, GemmTypes, Pin};
use tilewise::planning::kernel::Kernel;
use tilewise::planning::{Problem, fixtures};
use tilewise::{Caps, DType, Error};

/// Devices that differ in what a kernel's text depends on: f16, and how dims travel. All run every tile; those of
/// cooperative matrices where there is f16, of both sizes. With and without each; the full sweep has all four.
pub(crate) fn devices() -> Vec<Caps> {
    let each = [device(true, 256), device(false, 0), device(true, 0), device(false, 256)];
    each.into_iter().take(support::by_sweep(4, 2, 2)).collect()
}

pub(crate) fn device(f16: bool, immediate_bytes: u32) -> Caps {
    let mut caps = fixtures::lavapipe();
    (caps.f16, caps.limits.immediate_bytes) = (f16, immediate_bytes);
    // Subgroups of one size, or of several.
    let (max, matrices) = if f16 { (8, Some(8)) } else { (16, None) };
    caps.subgroups = Some(SubgroupSizes { min: 8, max, matrices });
    caps.rows.extend(fixtures::h200().rows);
    assert_eq!(caps.device_type, DeviceType::Software, "the largest patches are for software devices");
    caps
}

/// Operands of f16 whose sums may be in f16.
const F16_SUMS: GemmTypes = GemmTypes { accumulator: Accumulator::F16, ..TYPES[1] };

/// The device, with operands of cooperative matrices transposed to rows along k.
pub(crate) fn along_k(caps: &Caps) -> Caps {
    let mut caps = caps.clone();
    caps.machine.matrix_order = MatrixOrder::AlongK;
    caps
}

/// Every kernel that a product may take on a device, with a tile that makes it: all types, ways of staging and storing; in a short
/// sweep a quarter of the ways with each tile and types, in turn.
pub(crate) fn gemm_kernels(caps: &Caps) -> Vec<(Tile, GemmProblem, Kernel)> {
    const OPERANDS: [View; 4] = [View::Plain, View::Transposed, View::Gaps, View::TransposedGaps];
    let (mut kernels, mut seen) = (Vec::new(), HashSet::new());
    let along_k = along_k(caps);
    // A module has no text.
    let modules = [GemmKernel::CoopKhr, GemmKernel::CoopNv2];
    let texts = GemmKernel::ALL.into_iter().filter(move |kernel| !modules.contains(kernel));
    for (at, tile) in texts.flat_map(GemmKernel::tiles).enumerate() {
        for types in TYPES.into_iter().chain([F16_SUMS, I8]).chain(FP8) {
            // A Latin square: a quarter of the ways has each operand's four.
            let quarter =
                |i: &usize| !support::is_short_sweep() || (i + i / 4 + i / 16 + at).is_multiple_of(4);
            for views in (0..32)
                .filter(quarter)
                .map(|i| [OPERANDS[i % 4], OPERANDS[i / 4 % 4], [View::Plain, View::Gaps][i / 16]])
            {
                let few = (128 / tile.tm as usize % 9).max(1); // rows or columns that all have registers for
                let shape = match (tile.kernel, seen.len() % 2) {
                    (GemmKernel::Gemv, 0) => [few, 128, 128],
                    (GemmKernel::Gemv, _) => [128, few, 128],
                    _ => [128; 3],
                };
                let problem = wgsl::problem(shape, types, views).pinned(Pin::Tile(*tile));
                let takes = match tile.kernel {
                    GemmKernel::Tiled | GemmKernel::Gemv => types != I8,
                    GemmKernel::Broadcast => types.ab.is_real() && (caps.f16 || types.ab != DType::F16), // not pairs
                    GemmKernel::Dot => types == I8,
                    GemmKernel::Coop if types.c == DType::Bf16 && views[2] == View::Gaps => false, // whole vectors
                    GemmKernel::Coop => caps.f16 && types.ab == DType::F16,
                    _ => true,
                };
                if !takes {
                    fails(problem.plan(caps), Kind::Unsupported, &[]);
                    continue;
                }
                // Operands of cooperative matrices as they are in memory, or transposed to rows along k.
                let plan = match problem.plan([caps, &along_k][seen.len() % 2]) {
                    // The longest runs are for vectors alone.
                    Err(Error::Unsupported { .. }) if tile.kernel == GemmKernel::Gemv => continue,
                    plan => plan.expect("the device runs every tile"),
                };
                let kernel = plan.steps()[0].kernel.clone();
                if seen.insert(kernel.clone()) {
                    kernels.push((*tile, problem, kernel));
                }
            }
        }
    }
    kernels
}

/// Every kernel of a conversion between two types on a device.
pub(crate) fn cast_kernels(caps: &Caps) -> Vec<Kernel> {
    let cast = on_view::all().find(|(name, ..)| *name == "cast").expect("it is a family");
    let view = flat(&[3, 5]);
    let casts = DType::ALL.into_iter().flat_map(|from| {
        [view, view.t()].into_iter().flat_map(move |x| On::new([x; 2], from, caps, 1).forms(&cast, 99, 0))
    });
    wgsl::kernels_of_all(casts.map(|planned| planned.plan.expect("it fits")))
}

/// Every kernel but those of products and of Hadamard transforms, and those that GPUs would choose, too.
pub(crate) fn other_kernels(caps: &Caps) -> Vec<Kernel> {
    let discrete = caps.clone().planned_for(DeviceType::Discrete);
    let every = [caps, &discrete].into_iter().flat_map(plans::every);
    let mut few = caps.clone(); // the storage bindings that Vulkan guarantees
    few.limits.storage_bindings = 4;
    let every = every.chain(on_view::small(&few));
    [
        wgsl::form_kernels(caps),
        cast_kernels(caps),
        wgsl::kernels_of_all(every.filter_map(|planned| planned.plan.ok())),
        [wgsl::attention_kernels(caps), conv_kernels(caps)].concat(),
        wgsl::connected_kernels(caps),
        scalar_kernels(caps),
    ]
    .concat()
}

fn scalar_kernels(caps: &Caps) -> Vec<Kernel> {
    let has_room = caps.limits.immediate_bytes >= 16;
    let kernels =
        scalar_tests().into_iter().filter(|kernel| caps.f16 || !kernel.to_string().contains(":f16"));
    kernels.map(|kernel| if has_room { kernel } else { kernel.slot("dims", "ring") }).collect()
}

/// The kernels that rows of matrices are timed against, one for each type, with the sizes of the shader's defaults.
pub(crate) fn scalar_tests() -> [Kernel; 5] {
    ["f32", "f16", "f16_to_f32", "bf16", "i8"]
        .map(|sums| Kernel::new("gemm/scalar_verify").slot("scalar_sums", sums))
}

/// Every kernel of a product, with a tile that makes it.
pub(crate) fn product_kernels(caps: &Caps) -> Vec<(Tile, GemmProblem, Kernel)> {
    [gemm_kernels(caps), wgsl::half_kernels(caps), wgsl::connected_products(caps)].concat()
}

/// Every kernel of the lists on a device.
pub(crate) fn all(caps: &Caps) -> Vec<Kernel> {
    let products = product_kernels(caps).into_iter().map(|(_, _, kernel)| kernel);
    let passes = wgsl::hadamard_passes(caps).into_iter().map(|pass| pass.kernel(caps));
    products.chain(passes).chain(other_kernels(caps)).collect()
}
