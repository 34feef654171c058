//! The one choice of a matrix product, for devices that are not here.

use std::collections::BTreeSet;
use support::failure::{Kind, fails, says};
use support::operand::View;
use support::wgsl::{self, I8, TYPES};
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::gpu::{CoopRow, CoopScalar, CoopScope, DeviceType, RowSizes};
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{GemmTypes, Pin};
use tilewise::planning::{Bound, Plan, Problem, Step};
use tilewise::{Caps, DType, Error};

const F32: GemmTypes = TYPES[0];
const F16: GemmTypes = TYPES[2];

fn tiles() -> impl Iterator<Item = &'static Tile> {
    GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles())
}

fn each(mut check: impl FnMut(&str, &Caps)) {
    for (name, caps) in fixtures::ALL {
        check(name, &caps());
    }
}

/// The tile that a plan has taken.
pub(crate) fn taken(plan: &Plan) -> &'static Tile {
    Tile::of_step(&plan.steps()[0]).expect("a plan takes a tile of the table")
}

#[test]
fn a_large_square_product_is_on_tensor_cores_broadcast_by_a_processor_and_tiled_elsewhere() {
    each(|name, caps| {
        for types in TYPES {
            let plan = wgsl::plain([2048; 3], types).plan(caps).unwrap();
            let has_matrices = caps.rows.iter().any(CoopRow::is_spelled_in_wgsl);
            let coop = types.ab == DType::F16 && has_matrices;
            // Rows that WGSL cannot express, of a subgroup size that is known.
            let has = |ab, c| caps.spirv && caps.rows_of(ab, c).any(CoopRow::is_used_in_spirv);
            let in_spirv = match types.ab {
                DType::Bf16 => has(CoopScalar::Bf16, CoopScalar::F32),
                DType::F16 => has(CoopScalar::F16, CoopScalar::F32),
                _ => false,
            };
            // SwiftShader has no f16 in shaders: its elements are in pairs.
            let single = caps.f16 || types.ab != DType::F16;
            let want = match caps.device_type {
                DeviceType::Software if single => GemmKernel::Broadcast,
                _ if coop => GemmKernel::Coop,
                _ if in_spirv => GemmKernel::CoopKhr,
                _ => GemmKernel::Tiled,
            };
            assert_eq!(taken(&plan).kernel, want, "{name}: {plan}");
        }
    });
}

/// Rows of B transposed that are a large power of two apart fall into few sets of a processor's cache, and `broadcast`, which reads
/// 64 of them in turn, is slower than `tiled` then: on lavapipe 29 GFLOP/s in place of 49 with rows of 1,024.
#[test]
fn a_processor_stages_rows_of_b_that_its_cache_cannot_hold_together() {
    let caps = fixtures::lavapipe();
    let transposed = [View::Plain, View::Transposed, View::Plain];
    let slower = wgsl::problem([256, 256, 1024], F32, transposed).plan(&fixtures::swiftshader()).unwrap();
    assert_eq!(
        taken(&slower).kernel,
        GemmKernel::Broadcast,
        "its arithmetic takes longer than the loads: {slower}"
    );
    for (k, b, want) in [
        (256, View::Transposed, GemmKernel::Broadcast),
        (384, View::Transposed, GemmKernel::Broadcast),
        (512, View::Transposed, GemmKernel::Tiled),
        (1000, View::Transposed, GemmKernel::Broadcast),
        (1024, View::Transposed, GemmKernel::Tiled),
        (1040, View::Transposed, GemmKernel::Broadcast),
        (1024, View::Plain, GemmKernel::Broadcast),
    ] {
        for a in [View::Plain, View::Transposed] {
            let plan = wgsl::problem([512, 512, k], F32, [a, b, View::Plain]).plan(&caps).unwrap();
            assert_eq!(taken(&plan).kernel, want, "{a:?} {b:?} {k}: {plan}");
        }
    }
}

#[test]
fn tiny_products_are_naive() {
    each(|name, caps| {
        for shape in [[1, 1, 1], [1, 64, 1], [2, 3, 4]] {
            let plan = wgsl::plain(shape, F32).plan(caps).unwrap();
            // A processor takes a block of rows as a vector, too.
            let of_processors = caps.device_type == DeviceType::Software && shape[1] == 64;
            let want = if of_processors { GemmKernel::Broadcast } else { GemmKernel::Naive };
            assert_eq!(taken(&plan).kernel, want, "{name}, {shape:?}: {plan}");
        }
    });
}

#[test]
fn the_plan_is_the_cheapest_tile_that_fits_and_covers_the_result() {
    const SIZES: [usize; 6] = [1, 31, 64, 129, 1000, 3000];
    each(|name, caps| {
        let mut chosen = BTreeSet::new();
        for shape in SIZES.iter().flat_map(|&m| SIZES.iter().flat_map(move |&n| SIZES.map(|k| [m, n, k]))) {
            let problem = wgsl::plain(shape, F32);
            let plan = problem.plan(caps).unwrap();
            let tile = taken(&plan);
            assert!(tile.fits(&problem, caps).is_ok(), "{name}, {shape:?}: {plan}");
            // What is split along k is predicted to gain more than it costs to bring the parts together.
            let launch = caps.machine.launch_seconds;
            // Pieces of a long step are launches of their own.
            let seconds =
                plan.seconds() - launch * (plan.steps().len() - wgsl::parts_of(&plan).min(2) as usize) as f64;
            let whole = tile.cost(&problem, caps) + launch;
            match wgsl::parts_of(&plan) {
                1 => assert!((seconds / whole - 1.0).abs() < 1e-12, "{name}, {shape:?}"),
                _ => assert!(seconds < whole, "{name}, {shape:?}: {plan}"),
            }
            assert!(seconds.is_finite() && seconds > 0.0, "{name}, {shape:?}: {plan}");
            for other in tiles().filter(|tile| tile.fits(&problem, caps).is_ok()) {
                assert!(
                    seconds + tile.compile_cost(&problem, caps)
                        <= (other.cost(&problem, caps) + launch + other.compile_cost(&problem, caps))
                            * (1.0 + 1e-12),
                    "{name}, {shape:?}: {other} beats {plan}"
                );
            }
            let blocks = match tile.kernel {
                GemmKernel::Gemv => shape[0].max(shape[1]).div_ceil(tile.bm as usize),
                _ => shape[0].div_ceil(tile.bm as usize) * shape[1].div_ceil(tile.bn as usize),
            };
            let of_tile = plan.steps().iter().filter(|step| GemmKernel::of_step(step) == Some(tile.kernel));
            let of_step = |step: &Step| step.grid.iter().map(|&axis| axis as usize).product::<usize>();
            let grid: usize = of_tile.map(of_step).sum();
            let step = &plan.steps()[0];
            // The naive kernel's lanes run on across the ends of rows: it may need fewer blocks.
            let least =
                if tile.kernel == GemmKernel::Naive { (shape[0] * shape[1]).div_ceil(64) } else { blocks };
            assert!(
                grid >= least && step.grid.iter().all(|&axis| axis <= caps.limits.grid),
                "{name}: {plan}"
            );
            assert!(plan.reasons().is_empty(), "reasons are for who asks");
            chosen.insert(step.tile.clone());
        }
        assert!(chosen.len() > 2, "{name} takes only {chosen:?}");
    });
}

#[test]
fn more_work_is_never_predicted_to_take_less_time() {
    each(|name, caps| {
        let mut last = 0.0;
        for size in [1, 16, 64, 256, 1024, 4096] {
            let seconds = wgsl::plain([size; 3], F32).plan(caps).unwrap().seconds();
            assert!(seconds >= last, "{name}: {size} cubed takes {seconds} s, less than {last}");
            last = seconds;
        }
    });
}

#[test]
fn what_binds_a_product_is_what_takes_the_longest() {
    for caps in [fixtures::h200(), fixtures::rtx_4090(), fixtures::radv_rdna4(), fixtures::apple_m2()] {
        let bound = |shape, types| wgsl::plain(shape, types).plan(&caps).unwrap().work().bound;
        let name = &caps.adapter;
        // These GPUs' matrix units are faster than what their caches deliver to blocks of the size that is taken.
        let of_f16 = match () {
            () if name.contains("H200") || name.contains("RX 9070") => Bound::Memory,
            () if caps.has_tensor_cores() => Bound::Matrix,
            () => Bound::Vector,
        };
        assert_eq!(bound([8192; 3], F32), Bound::Vector, "{name}");
        assert_eq!(bound([8192; 3], F16), of_f16, "{name}");
        assert_eq!(bound([16_384, 1, 16_384], F32), Bound::Memory, "{name}: a column");
        assert_eq!(bound([16; 3], F32), Bound::Latency, "{name}: a launch");
    }
}

#[test]
fn a_plan_of_nothing_has_no_steps() {
    for problem in [wgsl::plain([0, 5, 7], F32), wgsl::plain([5, 0, 7], F16)] {
        for plan in [problem.plan(&fixtures::h200()).unwrap(), problem.explain(&fixtures::h200()).unwrap()] {
            assert!(plan.steps().is_empty() && plan.reasons().is_empty(), "{plan}");
            assert!(plan.seconds() == 0.0 && plan.seconds().is_sign_positive(), "{}", plan.seconds());
            assert_eq!(plan.to_string(), "matmul: no steps: there is nothing to compute");
        }
    }
}

#[test]
fn patches_that_a_gpu_would_spill_are_for_software_devices() {
    let scalar = || tiles().filter(|tile| [GemmKernel::Naive, GemmKernel::Tiled].contains(&tile.kernel));
    let large = scalar().max_by_key(|tile| tile.tm * tile.tn).expect("there are tiles");
    assert!(large.tm * large.tn > 128, "{large}");
    let problem = wgsl::plain([4096; 3], F32);
    each(|name, caps| {
        let roomy = large.invocations(caps) <= caps.limits.workgroup_invocations
            && large.workgroup_bytes(&problem, caps) <= caps.limits.workgroup_bytes;
        let software = caps.device_type == DeviceType::Software;
        let fits = large.fits(&problem, caps);
        assert_eq!(fits.is_ok(), roomy && software, "{name}: {fits:?}");
    });
}

#[test]
fn a_pinned_kernel_that_the_device_cannot_run_is_an_error_that_says_what_it_needs() {
    let tiled = wgsl::plain([256; 3], F32).pinned(Pin::Kernel(GemmKernel::Tiled));
    let mut caps = fixtures::rtx_4090();
    caps.limits.workgroup_invocations = 16;
    for problem in [tiled, tiled.pinned(Pin::Tile(GemmKernel::Tiled.tiles()[0])), tiled.pinned(Pin::Free)] {
        let error = problem.plan(&caps).expect_err("nothing has 16 invocations");
        let Error::Unsupported { op, needs, device } = &error else { panic!("{error:?}") };
        assert_eq!((*op, device.as_str()), ("matmul", "NVIDIA GeForce RTX 4090"));
        assert!(
            needs.contains("32 invocations per workgroup") || needs.contains("256 invocations"),
            "{error}"
        );
    }
    let mut caps = fixtures::radv_rdna3();
    caps.limits.workgroup_bytes = 1024;
    says(tiled.plan(&caps), &["3328 bytes of shared memory", "NAVI31"]);
    let naive = tiled.pinned(Pin::Free).explain(&caps).unwrap();
    assert_eq!(naive.steps()[0].kernel.shader(), "gemm/naive");
    assert_eq!(
        naive.reasons(),
        [
            "gemv: needs m or n of at most 8",
            "broadcast: needs a device that runs the invocations of a workgroup in turn",
            "tiled: needs 3328 bytes of shared memory, or a GPU with fewer than 64 accumulators per invocation",
            "dot: needs operands of i8, not f32",
            "coop: needs operands of f16, not f32",
            "coop_khr: needs operands of f16, bf16, i8, e4m3 or e5m2, not f32",
            "coop_nv2: needs operands of f16, bf16 or i8, not f32"
        ]
    );
}

#[test]
fn a_tile_that_is_in_no_table_is_an_error() {
    let tile = Tile { bm: 24, ..GemmKernel::Tiled.tiles()[0] };
    fails(
        wgsl::plain([64; 3], F32).pinned(Pin::Tile(tile)).plan(&fixtures::h200()),
        Kind::Unsupported,
        &["bm: 24"],
    );
}

/// Types that a tile takes: the deepest on matrices are of i8.
fn types_of(tile: &Tile) -> GemmTypes {
    let is_deep = [GemmKernel::CoopKhr, GemmKernel::CoopNv2].contains(&tile.kernel) && tile.bk >= 64;
    if tile.kernel == GemmKernel::Dot || is_deep { I8 } else { F16 }
}

#[test]
fn every_pin_is_kept() {
    let mut caps = fixtures::lavapipe();
    caps.rows.extend(fixtures::h200().rows);
    // No list of workgroups of 256 has been published, which drivers are assumed to have too.
    let larger = |row: &CoopRow| CoopRow { sizes: RowSizes::Multiples { invocations: 256 }, ..*row };
    let of_workgroup = |row: &&CoopRow| row.scope == CoopScope::Workgroup;
    caps.rows.extend(fixtures::h200().rows.iter().filter(of_workgroup).map(larger));
    caps.limits.workgroup_bytes = fixtures::h200().limits.workgroup_bytes;
    for tile in tiles() {
        // One row, vectors along those of B: every thin tile has room for its sums.
        let problem = wgsl::plain([1, 100, 7], types_of(tile));
        let pinned = problem.pinned(Pin::Tile(*tile)).plan(&caps).unwrap();
        assert_eq!(taken(&pinned), tile);
        let pinned = problem.pinned(Pin::Kernel(tile.kernel)).plan(&caps).unwrap();
        assert_eq!(taken(&pinned).kernel, tile.kernel);
        let others = problem.pinned(Pin::Tile(*tile)).explain(&caps).unwrap();
        let others = others.reasons();
        assert_eq!(others.len(), GemmKernel::ALL.len() - 1);
        assert!(others.iter().all(|reason| reason.ends_with("another kernel is pinned")), "{others:?}");
    }
}
