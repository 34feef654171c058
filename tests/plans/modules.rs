//! When a product runs as a module of SPIR-V: on rows of cooperative matrices that WGSL cannot express.

use crate::choice::taken;
use support::failure::says;
use support::operand::View;
use support::wgsl::{self, FP8, I8};
use tilewise::clifford::Signature;
use tilewise::clifford::layer::LayerProduct;
use tilewise::gemm::{Accumulator, GemmKernel};
use tilewise::gpu::{CoopRow, CoopScalar, MatrixOrder, RowSizes, Verdict};
use tilewise::planning::clifford_layer::{
    ConnectedBackward, ConnectedForward, ConnectedProblem, OperandRounding,
};
use tilewise::planning::gemm::{BiasAxis, GemmTypes, Pin, QuantisedDims};
use tilewise::planning::kernel::Language;
use tilewise::planning::{Plan, Problem, fixtures};
use tilewise::{Activation, Caps, DType, Error, Layout};

const F16: GemmTypes = GemmTypes::new(DType::F16, DType::F16);
const BF16: GemmTypes = GemmTypes::new(DType::Bf16, DType::Bf16);

/// What a device lacks.
type Change = fn(&mut Caps);

fn planned(types: GemmTypes, caps: &Caps) -> Plan {
    wgsl::plain([4096; 3], types).plan(caps).unwrap()
}

/// A device whose rows of these types are listed plans them on matrix units, and no slower than f16. What WGSL can express stays with WGSL.
#[test]
fn products_of_bf16_and_of_8_bits_are_on_matrix_units() {
    let (mut compared, mut of_fp8) = (0, Vec::new());
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let [f16, bf16, i8] = [F16, BF16, I8].map(|types| planned(types, &caps));
        for (types, plan) in [(F16, &f16), (BF16, &bf16), (I8, &i8)] {
            let language = plan.steps()[0].kernel.language();
            assert_eq!(
                language == Language::Spirv,
                taken(plan).kernel == GemmKernel::CoopKhr,
                "{name}: {plan}"
            );
            let has_row = caps.rows.iter().any(CoopRow::is_spelled_in_wgsl);
            assert!(language == Language::Wgsl || types != F16 || !has_row, "{name}: {plan}");
        }
        if taken(&bf16).kernel == GemmKernel::CoopKhr {
            let times = bf16.seconds() / f16.seconds();
            println!("{name}: bf16 takes {times:.2} times as long as f16");
            assert!(times <= 1.05, "{name}: {times}");
            compared += 1;
        }
        if taken(&i8).kernel == GemmKernel::CoopKhr {
            let times = i8.seconds() / f16.seconds();
            println!("{name}: i8 takes {times:.2} times as long as f16");
            assert!(times < 1.0, "{name}: {times}");
            compared += 1;
        }
        for types in FP8 {
            let plan = planned(GemmTypes::new(types.ab, DType::F32), &caps);
            if taken(&plan).kernel == GemmKernel::CoopKhr {
                let f16 = planned(GemmTypes::new(DType::F16, DType::F32), &caps);
                let times = plan.seconds() / f16.seconds();
                println!("{name}: {} takes {times:.2} times as long as f16", types.ab);
                assert!(times <= 1.0, "{name}: {times}");
                assert_eq!(plan.steps().len(), 1, "{name}: {plan}");
                assert_eq!(planned(types, &caps).steps().len(), 1, "{name}");
                of_fp8.push(name);
            }
        }
    }
    assert!(compared >= 10, "{compared} plans");
    assert_eq!(of_fp8, ["h200", "h100", "rtx-4090", "radv-rdna4"].map(|name| [name; 2]).as_flattened());
}

/// A layer's bias and activation are in the launch of its product, whatever the language.
#[test]
fn an_epilogue_is_in_the_launch_of_the_product() {
    let caps = fixtures::h200();
    let layer = |types: GemmTypes| {
        let bias = Layout::contiguous("bias", &[4096]).unwrap();
        let layer = wgsl::plain([4096; 3], types).bias(BiasAxis::Columns, &bias, types.c).unwrap();
        layer.activation(Activation::Gelu).plan(&caps).unwrap()
    };
    let f16 = layer(F16);
    for types in [BF16, GemmTypes::new(DType::I8, DType::F16), FP8[0]] {
        let plan = layer(types);
        assert_eq!(plan.steps().len(), 1, "{plan}");
        assert_eq!(taken(&plan).kernel, GemmKernel::CoopKhr, "{plan}");
        // The word that is bound where an operand is missing is printed once.
        assert_eq!(plan.to_string().matches("the constant 4 B").count(), 1, "{plan}");
        let times = plan.seconds() / f16.seconds();
        println!("h200: a layer of {} takes {times:.2} times as long as one of f16", types.ab);
        assert!(times <= 1.05, "{}: {times}", types.ab);
    }
}

/// A product over segments of k whose A is made while it is staged, and its backward pass.
#[test]
fn connected_layers_are_on_matrix_units() {
    let flat = |shape: &[usize]| Layout::contiguous("layer", shape).unwrap();
    let seconds = |dtype: DType, caps: &Caps| {
        let product = LayerProduct::new(Signature::CL3);
        let [x, weight, g] =
            [flat(&[8, 4096, 256]), flat(&[Signature::CL3.paths().len(), 256, 256]), flat(&[8, 4096, 256])];
        let problem = ConnectedProblem::new(product, &product.blades(), [&x, &x], &weight, dtype).unwrap();
        let forward = ConnectedForward::new(problem, OperandRounding::None, Pin::Free).unwrap();
        let backward = ConnectedBackward::new(forward.clone(), &g).unwrap();
        let plans = [forward.plan(caps).unwrap(), backward.plan(caps).unwrap()];
        let products: Vec<_> = plans.iter().flat_map(Plan::steps).filter_map(GemmKernel::of_step).collect();
        (plans.map(|plan| plan.seconds()), products)
    };
    let h200 = fixtures::h200();
    let ([forward, backward], products) = seconds(DType::Bf16, &h200);
    assert!(
        products.len() >= 3 && products.iter().all(|kernel| *kernel == GemmKernel::CoopKhr),
        "{products:?}"
    );
    let ([of_f16, back_of_f16], products) = seconds(DType::F16, &h200);
    assert!(products.iter().all(|kernel| *kernel == GemmKernel::Coop), "{products:?}");
    let times = [forward / of_f16, backward / back_of_f16];
    println!("h200: a connected layer of bf16 takes {times:.2?} times as long as one of f16");
    assert!(times.iter().all(|times| *times <= 1.05), "{times:?}");
    let (_, products) = seconds(DType::F16, &fixtures::intel_xe2());
    assert!(products.iter().all(|kernel| *kernel == GemmKernel::CoopKhr), "{products:?}");
}

/// The factors of a sketched layer, with signs that are made or stored: on the same matrices.
#[test]
fn sketched_layers_are_on_matrix_units() {
    let h200 = fixtures::h200();
    for (types, kernel) in [(BF16, GemmKernel::CoopKhr), (F16, GemmKernel::Coop)] {
        let stored = wgsl::plain([4096; 3], types).pinned(Pin::Staged);
        assert_eq!(taken(&stored.plan(&h200).unwrap()).kernel, kernel);
        for signs in wgsl::sign_half() {
            let made = wgsl::halved(stored, signs, View::Plain).plan(&h200).unwrap();
            assert_eq!(taken(&made).kernel, kernel, "{made}");
        }
    }
}

#[test]
fn a_device_without_what_a_module_needs_has_another_kernel_and_says_so() {
    let room = u32::try_from(size_of::<QuantisedDims>()).unwrap() + 4;
    let changes: [(Change, &str); 5] = [
        (|caps| caps.spirv = false, "modules of SPIR-V, which need Vulkan"),
        (|caps| caps.limits.immediate_bytes = 147, "148 bytes of immediates"),
        (|caps| caps.extensions.bfloat16 = false, "cooperative matrices bf16 x bf16 -> f32"),
        (|caps| caps.rows.clear(), "cooperative matrices bf16 x bf16 -> f32"),
        (
            |caps| caps.rows.iter_mut().for_each(|row| row.verdict = Verdict::Wrong),
            "cooperative matrices 16x16x16 bf16 x bf16 -> f32 (subgroup), fenced off: wrong results",
        ),
    ];
    assert_eq!(room, 148);
    for (change, why) in changes {
        let mut caps = fixtures::h200();
        change(&mut caps);
        let free = wgsl::plain([4096; 3], BF16).explain(&caps).unwrap();
        assert_eq!(taken(&free).kernel, GemmKernel::Tiled, "{free}");
        assert!(
            free.reasons().iter().any(|r| r.starts_with("coop_khr: needs ") && r.contains(why)),
            "{free}"
        );
        let pinned = wgsl::plain([4096; 3], BF16).pinned(Pin::Kernel(GemmKernel::CoopKhr)).plan(&caps);
        let Err(Error::Unsupported { needs, .. }) = pinned else { panic!("{why}: {pinned:?}") };
        assert!(needs.contains(why), "{needs}, not {why}");
    }
}

#[test]
fn products_of_fp8_without_their_rows_are_of_f32_and_a_pinned_module_says_why() {
    let changes: [(Change, &str); 4] = [
        (|caps| caps.extensions.float8 = false, "cooperative matrices e4m3 x e4m3 -> f32"),
        (|caps| caps.rows.retain(|row| row.a != CoopScalar::E4m3), "cooperative matrices e4m3 x e4m3 -> f32"),
        (
            |caps| caps.rows.iter_mut().for_each(|row| row.verdict = Verdict::Wrong),
            "cooperative matrices 16x16x32 e4m3 x e4m3 -> f32 (subgroup), fenced off: wrong results",
        ),
        (|caps| caps.spirv = false, "modules of SPIR-V, which need Vulkan"),
    ];
    for (change, why) in changes {
        let mut caps = fixtures::h200();
        change(&mut caps);
        assert_eq!(taken(&planned(FP8[0], &caps)).kernel, GemmKernel::Tiled);
        let pinned = wgsl::plain([4096; 3], FP8[0]).pinned(Pin::Kernel(GemmKernel::CoopKhr)).plan(&caps);
        let Err(Error::Unsupported { needs, .. }) = pinned else { panic!("{why}: {pinned:?}") };
        assert!(needs.contains(why), "{needs}, not {why}");
    }
    let pairs = wgsl::plain([4096; 3], FP8[1]).pinned(Pin::Kernel(GemmKernel::CoopKhr));
    says(pairs.plan(&fixtures::rtx_3090()), &["cooperative matrices e5m2 x e5m2 -> f32 that fill its tile"]);
}

#[test]
fn a_row_that_wgsl_can_express_is_taken_as_a_module_only_if_it_is_pinned() {
    let caps = fixtures::rtx_4090();
    let product = wgsl::plain([4096; 3], F16);
    let free = product.explain(&caps).unwrap();
    assert_eq!(taken(&free).kernel, GemmKernel::Coop, "{free}");
    assert!(free.reasons().iter().any(|r| r.contains("unless it is pinned")), "{free}");
    let pinned = product.pinned(Pin::Kernel(GemmKernel::CoopKhr)).plan(&caps).unwrap();
    assert_eq!(taken(&pinned).kernel, GemmKernel::CoopKhr, "{pinned}");
    // Where a driver lists no such row, modules use the others.
    let mut odd = fixtures::rtx_4090();
    odd.rows.retain(|row| !row.is_spelled_in_wgsl());
    assert_eq!(taken(&planned(F16, &odd)).kernel, GemmKernel::CoopKhr);
}

/// Sums of f16 where they are allowed and faster: on the cards that sum in f32 at half the rate.
#[test]
fn sums_of_f16_are_faster_on_geforce_and_nowhere_slower() {
    let mut faster = Vec::new();
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let allowed = GemmTypes { accumulator: Accumulator::F16, ..F16 };
        let [precise, short] = [F16, allowed].map(|types| planned(types, &caps));
        let times = short.seconds() / precise.seconds();
        assert!(times <= 1.0, "{name}: {short}");
        if taken(&short).kernel == GemmKernel::CoopKhr && taken(&precise).kernel == GemmKernel::Coop {
            println!("{name}: sums of f16 take {times:.2} of the time of sums of f32");
            assert!(times < 0.9, "{name}: {times}");
            faster.push(name);
        }
    }
    assert_eq!(faster, ["rtx-4090", "rtx-3090"]);
}

/// ANV gives kernels on matrices subgroups of 32, whose invocations hold 8 sums.
#[test]
fn products_of_16_bits_are_on_the_matrix_units_of_an_arc() {
    let caps = fixtures::intel_xe2();
    for types in [F16, BF16] {
        let plan = planned(types, &caps);
        assert_eq!(
            (taken(&plan).kernel, taken(&plan).tm, taken(&plan).tn),
            (GemmKernel::CoopKhr, 16, 16),
            "{plan}"
        );
        assert_eq!(caps.subgroups.unwrap().matrices, Some(32));
    }
}

/// AMD's matrices are loaded along k: a row-major B is transposed on its way into shared memory, where its units divide among the lanes.
#[test]
fn operands_are_transposed_where_matrices_are_loaded_along_k() {
    for (types, caps, transposed) in [
        (BF16, fixtures::radv_rdna4(), [0, 1]),
        // Half of the invocations put four units each.
        (I8, fixtures::radv_rdna4(), [0, 1]),
        (I8, fixtures::radv_rdna3(), [0, 1]),
        (I8, fixtures::h200(), [0, 0]),
        (BF16, fixtures::h200(), [0, 0]),
    ] {
        let plan = planned(types, &caps);
        let kernel = plan.steps()[0].kernel.to_string();
        let [a, b] = transposed;
        assert!(kernel.contains(&format!("a_TRANSPOSED={a} b_TRANSPOSED={b}")), "{kernel}: {plan}");
    }
    let tile =
        GemmKernel::CoopKhr.tiles().iter().find(|tile| [tile.bm, tile.bn, tile.bk] == [64, 64, 32]).unwrap();
    let mut caps = fixtures::lavapipe();
    caps.machine.matrix_order = MatrixOrder::AlongK;
    let plan = wgsl::plain([64; 3], I8).pinned(Pin::Tile(*tile)).plan(&caps).unwrap();
    assert!(plan.steps()[0].kernel.to_string().contains("b_TRANSPOSED=1"), "four units each: {plan}");
}

/// Whether a plan's product runs on matrices of flexible size.
fn is_flexible(plan: &Plan) -> bool {
    taken(plan).kernel == GemmKernel::CoopNv2
}

/// No GPU has timed `coop_nv2`: it is a candidate of measurements where a device has its rows, and no plan takes it unpinned.
#[test]
fn matrices_of_flexible_size_are_measured_before_they_are_taken() {
    let mut measured = Vec::new();
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        for types in [F16, GemmTypes::new(DType::F16, DType::F32), BF16, I8] {
            for shape in [[4096; 3], [1000, 777, 333], [64, 64, 64], [16, 16, 8192], [2048, 2048, 33]] {
                let product = wgsl::plain(shape, types);
                let plan = product.plan(&caps).unwrap();
                assert!(!is_flexible(&plan), "{name}: {plan}");
                let is_measured = product.candidates(&caps).unwrap().iter().any(is_flexible);
                if shape == [4096; 3] && is_measured {
                    measured.push(format!("{name} {}", types.ab));
                }
            }
        }
    }
    measured.dedup();
    let want = ["h200", "h100", "rtx-4090", "a100", "rtx-3090"]
        .map(|name| ["f16", "bf16", "i8"].map(|ab| format!("{name} {ab}")));
    assert_eq!(measured, want.concat());
}

#[test]
fn a_subgroup_or_a_workgroup_holds_matrices_of_flexible_size() {
    let caps = fixtures::rtx_3090();
    let mut names = Vec::new();
    for (types, ab) in [(F16, "f16"), (I8, "i8")] {
        for tile in GemmKernel::CoopNv2.tiles() {
            let product = wgsl::plain([1000; 3], types).pinned(Pin::Tile(*tile));
            let Ok(plan) = product.plan(&caps) else { continue };
            let kernel = plan.steps()[0].kernel.clone();
            let is_whole = [tile.tm, tile.tn] == [tile.bm, tile.bn];
            let scope = if is_whole { "workgroup" } else { "subgroup" };
            assert_eq!(kernel.shader(), format!("spirv/gemm_coop_nv2.{scope}.{ab}"), "{plan}");
            assert!(kernel.words().is_ok(), "{plan}");
            names.push(format!("{ab} {tile}"));
        }
    }
    let want = [
        "f16 128x128x32 (one matrix)",
        "f16 64x64x32 (one matrix)",
        "f16 128x256x16 (64x64 per subgroup)",
        "f16 256x128x16 (64x64 per subgroup)",
        "f16 128x128x32 (64x64 per subgroup)",
        "f16 64x64x32 (32x32 per subgroup)",
        "f16 32x32x32 (16x16 per subgroup)",
        "i8 128x128x64 (one matrix)",
        "i8 64x64x64 (one matrix)",
        "i8 128x128x32 (one matrix)",
        "i8 64x64x32 (one matrix)",
        "i8 128x128x64 (64x64 per subgroup)",
        "i8 64x64x64 (32x32 per subgroup)",
        "i8 128x128x32 (64x64 per subgroup)",
        "i8 64x64x32 (32x32 per subgroup)",
    ];
    assert_eq!(names, want);
}

#[test]
fn a_device_without_matrices_of_flexible_size_says_what_it_lacks() {
    let is_flexible = |row: &CoopRow| row.sizes != RowSizes::Exact;
    let changes: [(Change, &str); 5] = [
        (|caps| caps.spirv = false, "modules of SPIR-V, which need Vulkan"),
        (|caps| caps.limits.immediate_bytes = 147, "148 bytes of immediates"),
        (
            |caps| caps.rows.retain(|row| row.sizes == RowSizes::Exact),
            "cooperative matrices of flexible size f16 x f16 -> f32 (workgroup) that fill its tile",
        ),
        (
            |caps| caps.rows.iter_mut().for_each(|row| row.verdict = Verdict::Wrong),
            "multiples of 16x16x16 f16 x f16 -> f32 (subgroup), fenced off: wrong results",
        ),
        (
            |caps| caps.flexible_limits.as_mut().unwrap().dimension = 8,
            "32 rows of a cooperative matrix of flexible size",
        ),
    ];
    for (change, why) in changes {
        let mut caps = fixtures::rtx_4090();
        assert!(caps.rows.iter().any(is_flexible));
        change(&mut caps);
        let pinned = wgsl::plain([4096; 3], F16).pinned(Pin::Kernel(GemmKernel::CoopNv2)).plan(&caps);
        let Err(Error::Unsupported { needs, .. }) = pinned else { panic!("{why}: {pinned:?}") };
        assert!(needs.contains(why), "{needs}, not {why}");
    }
}
