//! The one choice of a matrix product, for devices that are not here.

mod support;

use std::collections::BTreeSet;
use support::operand::View;
use support::wgsl::{self, I8, TYPES};
use tilewise::gemm::{GemmKernel, GemmProblem, GemmTypes, Pin, Tile, explain, plan};
use tilewise::gpu::{DeviceType, SubgroupSizes, Verdict, fixtures};
use tilewise::kernel::{Plan, fold};
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
fn taken(plan: &Plan) -> &'static Tile {
    let found =
        tiles().find(|tile| tile.kernel.shader() == plan.kernel.shader() && tile.to_string() == plan.tile);
    found.expect("a plan takes a tile of the table")
}

#[test]
fn a_large_square_product_of_f16_is_on_tensor_cores_where_they_are_and_tiled_elsewhere() {
    each(|name, caps| {
        for types in TYPES {
            let plan = plan(&wgsl::plain([2048; 3], types), caps).unwrap();
            let coop = types.ab == DType::F16 && ["h200", "rtx-4090", "apple-m2"].contains(&name);
            let want = if coop { GemmKernel::Coop } else { GemmKernel::Tiled };
            assert_eq!(taken(&plan).kernel, want, "{name}: {plan}");
        }
    });
}

#[test]
fn tiny_products_are_naive_on_every_device() {
    each(|name, caps| {
        for shape in [[1, 1, 1], [1, 64, 1], [2, 3, 4]] {
            let plan = plan(&wgsl::plain(shape, F32), caps).unwrap();
            assert_eq!(taken(&plan).kernel, GemmKernel::Naive, "{name}, {shape:?}: {plan}");
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
            let plan = plan(&problem, caps).unwrap();
            let tile = taken(&plan);
            assert!(tile.fits(&problem, caps).is_ok(), "{name}, {shape:?}: {plan}");
            // What is split along k is predicted to gain more than it costs to bring the parts together.
            match plan.parts {
                1 => assert_eq!(plan.seconds, tile.cost(&problem, caps), "{name}, {shape:?}"),
                _ => assert!(plan.seconds < tile.cost(&problem, caps), "{name}, {shape:?}: {plan}"),
            }
            assert!(plan.seconds.is_finite() && plan.seconds > 0.0, "{name}, {shape:?}: {plan}");
            for other in tiles().filter(|tile| tile.fits(&problem, caps).is_ok()) {
                assert!(
                    plan.seconds <= other.cost(&problem, caps),
                    "{name}, {shape:?}: {other} beats {plan}"
                );
            }
            let blocks = match tile.kernel {
                GemmKernel::Gemv => shape[0].max(shape[1]).div_ceil(tile.bm as usize),
                _ => shape[0].div_ceil(tile.bm as usize) * shape[1].div_ceil(tile.bn as usize),
            };
            let grid: usize = plan.grid.iter().map(|&axis| axis as usize).product();
            // The naive kernel's lanes run on across the ends of rows: it may need fewer blocks.
            let least =
                if tile.kernel == GemmKernel::Naive { (shape[0] * shape[1]).div_ceil(64) } else { blocks };
            assert!(
                grid >= least && plan.grid.iter().all(|&axis| axis <= caps.limits.grid),
                "{name}: {plan}"
            );
            assert!(plan.reasons.is_empty(), "reasons are for who asks");
            chosen.insert(plan.tile);
        }
        assert!(chosen.len() > 2, "{name} takes only {chosen:?}");
    });
}

#[test]
fn more_work_is_never_predicted_to_take_less_time() {
    each(|name, caps| {
        let mut last = 0.0;
        for size in [1, 16, 64, 256, 1024, 4096] {
            let seconds = plan(&wgsl::plain([size; 3], F32), caps).unwrap().seconds;
            assert!(seconds >= last, "{name}: {size} cubed takes {seconds} s, less than {last}");
            last = seconds;
        }
    });
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
        let error = plan(&problem, &caps).expect_err("nothing has 16 invocations");
        let Error::Unsupported { op, needs, device } = &error else { panic!("{error:?}") };
        assert_eq!((*op, device.as_str()), ("matmul", "NVIDIA GeForce RTX 4090"));
        assert!(
            needs.contains("32 invocations per workgroup") || needs.contains("256 invocations"),
            "{error}"
        );
    }
    let mut caps = fixtures::radv_rdna3();
    caps.limits.workgroup_bytes = 1024;
    let error = plan(&tiled, &caps).expect_err("two blocks do not fit").to_string();
    assert!(error.contains("3328 bytes of shared memory") && error.contains("NAVI31"), "{error}");
    let naive = explain(&tiled.pinned(Pin::Free), &caps).unwrap();
    assert_eq!(naive.kernel.shader(), "gemm_naive");
    assert_eq!(
        naive.reasons,
        [
            "gemv: needs m or n of at most 8",
            "tiled: needs 3328 bytes of shared memory",
            "dot: needs operands of i8, not f32",
            "coop: needs operands of f16, not f32"
        ]
    );
}

/// Why `coop` cannot run on a device, as a plan that passed over it says, and as the error of one that was pinned to it.
fn coop_lacks(caps: &Caps) -> String {
    let problem = wgsl::plain([2048; 3], F16);
    let free = explain(&problem, caps).unwrap();
    assert_eq!(taken(&free).kernel, GemmKernel::Tiled, "{free}");
    let reason = free.reasons.iter().find_map(|reason| reason.strip_prefix("coop: needs "));
    let pinned = plan(&problem.pinned(Pin::Kernel(GemmKernel::Coop)), caps).expect_err("it cannot run");
    let said = pinned.to_string();
    let Error::Unsupported { op: "matmul", needs, device } = pinned else { panic!("{pinned:?}") };
    assert!(device == caps.adapter && said.contains(&needs), "{said}");
    assert_eq!(reason, Some(needs.as_str()));
    needs
}

#[test]
fn tensor_cores_that_are_not_to_be_trusted_are_passed_over_with_the_row_and_the_reason() {
    const ROW: &str = "cooperative matrices 16x16x16 f16 x f16 -> f32, ";
    let fenced = |verdict| {
        let mut caps = fixtures::rtx_4090();
        caps.rows.iter_mut().for_each(|row| row.verdict = verdict);
        caps
    };
    let problem = wgsl::plain([2048; 3], F16);
    for verdict in [Verdict::Untested, Verdict::Verified] {
        assert_eq!(taken(&plan(&problem, &fenced(verdict)).unwrap()).kernel, GemmKernel::Coop, "{verdict}");
    }
    for verdict in [Verdict::Wrong, Verdict::Refused] {
        let lacks = coop_lacks(&fenced(verdict));
        assert!(lacks.starts_with(&format!("{ROW}{verdict}")) && lacks.contains("fenced off"), "{lacks}");
    }
    let mut caps = fixtures::rtx_4090();
    caps.rows.clear();
    assert!(coop_lacks(&caps).starts_with(&format!("{ROW}which the adapter does not list")));
    let mut caps = fixtures::rtx_4090();
    caps.subgroups = Some(SubgroupSizes { min: 16, max: 32 });
    assert!(coop_lacks(&caps).starts_with(&format!("{ROW}and subgroups of one size, not 16 to 32")));
    // Subgroups so large that a block has not a unit for every lane.
    caps.subgroups = Some(SubgroupSizes { min: 128, max: 128 });
    assert!(coop_lacks(&caps).contains("smaller subgroups"), "{}", coop_lacks(&caps));
}

#[test]
fn a_tile_that_is_in_no_table_is_an_error() {
    let tile = Tile { bm: 24, ..GemmKernel::Tiled.tiles()[0] };
    let error = plan(&wgsl::plain([64; 3], F32).pinned(Pin::Tile(tile)), &fixtures::h200()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("bm: 24"), "{error}");
}

#[test]
fn every_pin_is_kept() {
    let mut caps = fixtures::lavapipe();
    caps.rows.extend(fixtures::h200().rows);
    for tile in tiles() {
        // One row, vectors along those of B: every thin tile has room for its sums.
        let problem = wgsl::plain([1, 100, 7], if tile.kernel == GemmKernel::Dot { I8 } else { F16 });
        let pinned = plan(&problem.pinned(Pin::Tile(*tile)), &caps).unwrap();
        assert_eq!(taken(&pinned), tile);
        let pinned = plan(&problem.pinned(Pin::Kernel(tile.kernel)), &caps).unwrap();
        assert_eq!(taken(&pinned).kernel, tile.kernel);
        let others = explain(&problem.pinned(Pin::Tile(*tile)), &caps).unwrap().reasons;
        assert_eq!(others.len(), GemmKernel::ALL.len() - 1);
        assert!(others.iter().all(|reason| reason.ends_with("another kernel is pinned")), "{others:?}");
    }
}

#[test]
fn a_matrix_beyond_the_largest_binding_is_an_error_with_both_numbers() {
    let caps = fixtures::lavapipe();
    let limit = caps.limits.binding_bytes;
    assert_eq!(limit, 128 << 20);
    // 128 MiB to the byte is allowed, for each operand and the result.
    for shape in [[32_768, 16, 1024], [16, 32_768, 1024], [32_768, 1024, 16]] {
        assert!(plan(&wgsl::plain(shape, F32), &caps).is_ok(), "{shape:?}");
        let larger = shape.map(|size| if size == 1024 { 1025 } else { size });
        let error = plan(&wgsl::plain(larger, F32), &caps).expect_err("an operand is too large");
        let Error::Limit { op: "matmul", needed, allowed, .. } = error else { panic!("{error:?}") };
        assert_eq!((needed, allowed), (limit + 4 * 32_768, limit), "{larger:?}");
        let said = error.to_string();
        assert!(said.contains("134348800") && said.contains("134217728"), "{said}");
        assert!(plan(&wgsl::plain(larger, F16), &caps).is_ok(), "f16 takes half");
    }
    // What counts is what a view spans, from the start of its window.
    let spread = wgsl::problem([4096, 16, 4096], F32, [View::Steps, View::Plain, View::Plain]);
    assert!(
        matches!(plan(&spread, &caps), Err(Error::Limit { .. })),
        "every second element of every second row"
    );
}

#[test]
fn sizes_beyond_31_bits_are_an_error() {
    let layout = |shape: [usize; 2]| tilewise::Layout::contiguous("test", &shape).unwrap();
    let problem = |k: usize| GemmProblem::new(&layout([1, k]), &layout([k, 1]), &layout([1, 1]), F32);
    for k in [1 << 31, 1 << 32, (1 << 32) + 4] {
        let error = problem(k).unwrap_err();
        let Error::Limit { needed, allowed: 2_147_483_647, .. } = error else { panic!("{error:?}") };
        assert_eq!(needed, k as u64);
    }
    assert_eq!(problem((1 << 31) - 1).unwrap().dims.k, 2_147_483_647);
}

#[test]
fn the_barest_device_gets_dims_from_the_ring_and_f16_in_pairs() {
    let kernel = |types, caps: &Caps, pin| {
        plan(&wgsl::plain([64, 65, 66], types).pinned(Pin::Kernel(pin)), caps).unwrap().kernel.to_string()
    };
    for pin in [GemmKernel::Naive, GemmKernel::Tiled] {
        let bare = kernel(F16, &fixtures::bare_webgpu(), pin);
        for slot in ["dims:dims_uniform", "load_a:load_x_packed", "load_b:load_x_packed", "packed"] {
            assert!(bare.contains(slot), "{pin} has no {slot}: {bare}");
        }
        assert!(!bare.contains("f16"), "{bare}");
        let bare = kernel(F32, &fixtures::bare_webgpu(), pin);
        assert!(bare.contains("dims:dims_uniform") && !bare.contains("packed"), "{bare}");
        let full = kernel(F16, &fixtures::lavapipe(), pin);
        assert!(full.contains("a_unit=f16") && !full.contains("packed") && !full.contains("dims"), "{full}");
        let half = kernel(F16, &fixtures::swiftshader(), pin);
        assert!(half.contains("packed") && !half.contains("dims"), "{half}");
    }
}

/// How A is staged when it is (m, k) with these strides: the number in the kernel's text.
fn stage_of_a(shape: [usize; 2], strides: [usize; 2], offset: usize) -> String {
    let a = tilewise::Layout::new("test", &shape, &strides, offset, 1 << 30).unwrap();
    let b = tilewise::Layout::contiguous("test", &[shape[1], 64]).unwrap();
    let c = tilewise::Layout::contiguous("test", &[shape[0], 64]).unwrap();
    let problem = GemmProblem::new(&a, &b, &c, F32).unwrap().pinned(Pin::Kernel(GemmKernel::Tiled));
    let kernel = plan(&problem, &fixtures::rtx_4090()).unwrap().kernel.to_string();
    let stage = kernel.split("A_STAGE=").nth(1).and_then(|rest| rest.chars().next()).expect("A is staged");
    let vector = kernel.contains("load_a:load_x_vec4") && kernel.contains("a_unit=vec4<f32>");
    assert_eq!(vector, stage == '2', "{kernel}");
    ["scalars along k", "scalars along m", "vectors along m"][stage as usize - '0' as usize].into()
}

#[test]
fn vectors_are_loaded_only_where_extents_strides_and_offsets_are_multiples_of_four() {
    assert_eq!(stage_of_a([64, 64], [64, 1], 0), "scalars along k");
    assert_eq!(stage_of_a([63, 64], [64, 1], 0), "scalars along k");
    assert_eq!(stage_of_a([64, 64], [68, 1], 12), "scalars along k");
    assert_eq!(stage_of_a([64, 63], [64, 1], 0), "scalars along k");
    assert_eq!(stage_of_a([64, 64], [65, 1], 0), "scalars along k");
    assert_eq!(stage_of_a([64, 64], [64, 1], 2), "scalars along k");
    assert_eq!(stage_of_a([64, 64], [1, 64], 0), "vectors along m");
    assert_eq!(stage_of_a([64, 63], [1, 64], 4), "vectors along m");
    assert_eq!(stage_of_a([62, 64], [1, 64], 0), "scalars along m");
    assert_eq!(stage_of_a([64, 64], [1, 66], 0), "scalars along m");
    assert_eq!(stage_of_a([64, 64], [1, 64], 1), "scalars along m");
    assert_eq!(stage_of_a([64, 64], [128, 2], 0), "scalars along k"); // nothing is contiguous
}

#[test]
fn vectors_are_stored_only_where_rows_strides_and_offsets_are_multiples_of_four() {
    let stores = |cols: usize, row: usize, offset: usize, types| {
        let [a, b] =
            [[64, 64], [64, cols]].map(|shape| tilewise::Layout::contiguous("test", &shape).unwrap());
        let c = tilewise::Layout::new("test", &[64, cols], &[row, 1], offset, 1 << 30).unwrap();
        let problem = GemmProblem::new(&a, &b, &c, types).unwrap().pinned(Pin::Kernel(GemmKernel::Tiled));
        [fixtures::lavapipe(), fixtures::swiftshader()].map(|caps| {
            let kernel = plan(&problem, &caps).unwrap().kernel.to_string();
            let of_slot =
                |slot: &str| kernel.split(' ').find_map(|word| word.strip_prefix(slot).map(str::to_owned));
            let elements = of_slot("store_element:").filter(|fragment| fragment != "nothing");
            of_slot("store_c:").or(elements).unwrap_or_else(|| "store_element".into())
        })
    };
    assert_eq!(stores(64, 64, 0, F16), ["store_c_vec4", "store_c_packed4"]);
    assert_eq!(stores(64, 68, 4, F16), ["store_c_vec4", "store_c_packed4"]);
    assert_eq!(stores(64, 64, 0, F32), ["store_c_vec4", "store_c_vec4"]);
    for (cols, row, offset) in [(62, 64, 0), (64, 65, 0), (64, 64, 2)] {
        assert_eq!(
            stores(cols, row, offset, F16),
            ["store_element", "store_element_packed"],
            "{cols} {row} {offset}"
        );
        assert_eq!(
            stores(cols, row, offset, F32),
            ["store_element", "store_element"],
            "{cols} {row} {offset}"
        );
    }
}

#[test]
fn a_grid_is_folded_over_three_axes_and_covers_its_blocks() {
    const MOST: u32 = 65_535;
    assert_eq!(fold("test", 0, MOST).unwrap(), [1, 1, 1]);
    assert_eq!(fold("test", 1, MOST).unwrap(), [1, 1, 1]);
    assert_eq!(fold("test", 65_535, MOST).unwrap(), [65_535, 1, 1]);
    for (blocks, limit) in [
        (65_536, MOST),
        (65_537, MOST),
        (1_000_000, MOST),
        (32_767 * 65_535, MOST),
        (1 << 31, MOST),
        (999, 10),
        (1000, 10),
        (101, 10),
        (1, 1),
    ] {
        let grid = fold("test", blocks, limit).unwrap();
        assert!(grid.iter().all(|&axis| (1..=limit).contains(&axis)), "{blocks}: {grid:?}");
        let [x, y, z] = grid.map(u64::from);
        assert!(x * y * z >= blocks, "{blocks}: {grid:?} leaves some out");
        assert!(x * y * z < blocks + y * z, "{blocks}: {grid:?} could be narrower");
    }
    for (blocks, limit) in [(1001, 10), (2, 1), (65_535 * 65_535, MOST), (1 << 32, MOST), (u64::MAX, MOST)] {
        let error = fold("test", blocks, limit).expect_err("too many blocks");
        let Error::Limit { op: "test", needed, allowed, .. } = error else { panic!("{error:?}") };
        assert!(needed == blocks && allowed < needed, "{error}");
    }
}

#[test]
fn a_product_with_more_blocks_than_one_axis_holds_is_folded() {
    let plan =
        plan(&wgsl::plain([1 << 22, 1, 4], F32).pinned(Pin::Kernel(GemmKernel::Naive)), &fixtures::h200())
            .unwrap();
    assert!(plan.grid[1] >= 2 && plan.grid[0] <= 65_535, "{plan}");
    assert!(plan.grid.iter().map(|&axis| u64::from(axis)).product::<u64>() >= 1 << 16, "{plan}");
}

#[test]
fn a_plan_prints_what_runs_and_why_nothing_else_does() {
    let plan = explain(&wgsl::plain([512; 3], F32), &fixtures::lavapipe()).unwrap();
    let printed = plan.to_string();
    let lines: Vec<&str> = printed.lines().collect();
    let [what, why, gemv, _, coop] = lines[..] else { panic!("{printed}") };
    assert!(what.starts_with(&format!("gemm_tiled {}, grid ", plan.tile)), "{printed}");
    assert!(what.contains(" x 1 x 1, predicted ") && what.ends_with(" ms"), "{printed}");
    assert!(why.starts_with("  naive: slower here, predicted ") && why.ends_with(" ms"), "{printed}");
    assert_eq!(gemv, "  gemv: needs m or n of at most 8");
    assert_eq!(coop, "  coop: needs operands of f16, not f32");
    let mut fixed = Plan { grid: [2, 3, 4], seconds: 1.5e-6, reasons: vec![], ..plan.clone() };
    fixed.tile = "a tile".into();
    assert_eq!(fixed.to_string(), "gemm_tiled a tile, grid 2 x 3 x 4, predicted 1.5 us");
    fixed.seconds = 2.0;
    fixed.reasons = vec!["coop: no row".into(), "naive: slower".into()];
    let want = "gemm_tiled a tile, grid 2 x 3 x 4, predicted 2.00 s\n  coop: no row\n  naive: slower";
    assert_eq!(fixed.to_string(), want);
}

#[test]
fn what_every_device_would_run_is_valid_there() {
    const SIZES: [usize; 5] = [1, 4, 63, 64, 1030];
    let levels = [TYPES.len(), 5, 5, 5, View::ALL.len(), View::ALL.len(), View::OUTPUTS.len()];
    each(|name, caps| {
        let mut kernels = BTreeSet::new();
        for row in support::pairs::sweep(&levels, &[&[0, 4, 5, 6]]) {
            let views = [View::ALL[row[4]], View::ALL[row[5]], View::OUTPUTS[row[6]]];
            let problem = wgsl::problem([SIZES[row[1]], SIZES[row[2]], SIZES[row[3]]], TYPES[row[0]], views);
            // Every tile on matrices in turn, where the device has them.
            let coop = GemmKernel::Coop.tiles();
            let coop = Pin::Tile(coop[kernels.len() % coop.len()]);
            for pin in [Pin::Free, Pin::Kernel(GemmKernel::Naive), Pin::Kernel(GemmKernel::Tiled), coop] {
                let plan = match explain(&problem.pinned(pin), caps) {
                    Err(Error::Unsupported { .. }) if pin == coop => continue,
                    plan => plan.unwrap_or_else(|error| panic!("{name}: {error}")),
                };
                if kernels.insert(plan.kernel.to_string()) {
                    let text = plan.kernel.specialize().unwrap();
                    let validated = wgsl::validate(&text, wgsl::capabilities(caps));
                    validated.unwrap_or_else(|error| panic!("{name}: {plan}\n{error}"));
                }
            }
        }
        assert!(kernels.len() > 30, "{name}: {} kernels", kernels.len());
    });
}
