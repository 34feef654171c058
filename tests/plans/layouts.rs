//! What a plan makes of layouts and sizes: whole vectors or elements, where dims travel, folded grids, and the limits.

use std::collections::BTreeSet;
use support::failure::{Kind, fails};
use support::laid;
use support::laid::flat;
use support::operand::View;
use support::wgsl::{self, TYPES};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::ops::Overflow;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{F16SplitProblem, GemmProblem, GemmTypes, Pin, Side};
use tilewise::planning::kernel::fold_grid;
use tilewise::planning::ops::{
    CastProblem, CopyProblem, Elementwise, ElementwiseProblem, LossFunction, LossProblem, NormKind,
    NormLayouts, NormPass, NormProblem,
};
use tilewise::planning::{Plan, Problem, Step};
use tilewise::{Caps, DType, Error, Precision};

const F32: GemmTypes = TYPES[0];
const F16: GemmTypes = TYPES[2];

#[test]
fn a_matrix_beyond_the_largest_binding_is_multiplied_in_panels_that_are_not() {
    let caps = fixtures::lavapipe();
    let limit = caps.limits.binding_bytes;
    assert_eq!(limit, 128 << 20);
    // 128 MiB to the byte is allowed, for each operand and the result.
    for shape in [[32_768, 16, 1024], [16, 32_768, 1024], [32_768, 1024, 16]] {
        assert_eq!(panels(&wgsl::plain(shape, F32), &caps), 1, "{shape:?}");
        let larger = shape.map(|size| if size == 1024 { 1025 } else { size });
        assert_eq!(panels(&wgsl::plain(larger, F32), &caps), 2, "{larger:?}");
        assert_eq!(panels(&wgsl::plain(larger, F16), &caps), 1, "f16 takes half");
    }
    // Sums of no terms are zeros, as many as the result has.
    for [m, n, k] in [[32_768, 1025, 0], [1, (1 << 25) + 8, 0]] {
        assert_eq!(panels(&wgsl::plain([m, n, k], F32), &caps), 2, "{m} x {n}");
    }
    // What counts is what a view spans, from the start of its window.
    let spread = wgsl::problem([4096, 16, 4096], F32, [View::Steps, View::Plain, View::Plain]);
    assert!(panels(&spread, &caps) > 1, "every second element of every second row");
}

/// The panels of a product, each of whose windows can be bound.
fn panels(problem: &GemmProblem, caps: &Caps) -> usize {
    let plan = problem.explain(caps).unwrap();
    let windows = plan.steps().iter().flat_map(|step| step.args.iter().map(|arg| arg.window.clone()));
    assert!(
        windows.map(|window| window.end - window.start).all(|n| n <= caps.limits.binding_bytes),
        "{plan}"
    );
    let is_panel = |step: &&Step| step.kernel.shader() != "gemm/reduce_splits" && step.first_block == 0;
    let panels = plan.steps().iter().filter(is_panel).count();
    let said = format!("{panels} panels: an operand is larger than the device's largest binding");
    assert_eq!(plan.reasons().contains(&said), panels > 1, "{plan}");
    panels
}

#[test]
fn sums_of_parts_of_k_beyond_the_largest_binding_are_those_of_panels() {
    let caps = fixtures::lavapipe();
    let product = |parts: u32| wgsl::plain([4096, 2048, 1024], F32).split_k(SplitK::Splits(parts));
    assert_eq!(panels(&product(4), &caps), 1);
    assert_eq!(product(4).plan(&caps).unwrap().temporaries(), [caps.limits.binding_bytes]);
    // As many as there are steps of 32: 1 GiB of sums.
    for (asked, of) in [(5, 2), (32, 8), (u32::MAX, 8)] {
        assert_eq!(panels(&product(asked), &caps), of, "{asked}");
        let plan = product(asked).plan(&caps).unwrap();
        let steps = plan.steps().iter().filter(|step| step.first_block == 0).count();
        assert_eq!(steps, 2 * of, "each panel is in parts: {plan}");
    }
}

/// A kernel that multiplies f16 alone may be pinned for operands of f32 that are rounded, in panels along k as well.
#[test]
fn panels_of_rounded_operands_take_the_kernel_that_is_pinned() {
    let caps = fixtures::lavapipe();
    for precision in [Precision::Fast, Precision::Split] {
        let problem = wgsl::plain([8192, 8192, 4096], F32).precision(precision);
        let plan = problem.pinned(Pin::Kernel(GemmKernel::Coop)).plan(&caps).unwrap();
        let shaders: BTreeSet<&str> = plan.steps().iter().map(|step| step.kernel.shader()).collect();
        assert_eq!(
            shaders,
            BTreeSet::from(["gemm/coop", "gemm/f16_split", "gemm/reduce_splits"]),
            "{precision}"
        );
    }
}

#[test]
fn sizes_beyond_31_bits_are_an_error() {
    let layout = |shape: [usize; 2]| flat(&shape);
    let problem = |k: usize| GemmProblem::new(&layout([1, k]), &layout([k, 1]), &layout([1, 1]), F32);
    for k in [1 << 31, 1 << 32, (1 << 32) + 4] {
        let error = problem(k).unwrap_err();
        let Error::Limit { needed, allowed: 2_147_483_647, .. } = error else { panic!("{error:?}") };
        assert_eq!(needed, k as u64);
    }
    assert_eq!(problem((1 << 31) - 1).unwrap().dims().k, 2_147_483_647);
}

/// The kernel of a plan's first step, in words.
fn first_kernel(problem: &GemmProblem, caps: &Caps) -> String {
    problem.plan(caps).unwrap().steps()[0].kernel.to_string()
}

#[test]
fn the_barest_device_gets_dims_from_the_ring_and_f16_in_pairs() {
    let kernel = |types, caps: &Caps, pin| {
        first_kernel(&wgsl::plain([64, 65, 66], types).pinned(Pin::Kernel(pin)), caps)
    };
    for pin in [GemmKernel::Naive, GemmKernel::Tiled] {
        let bare = kernel(F16, &fixtures::bare_webgpu(), pin);
        for slot in ["dims:ring", "load_a:element_packed", "load_b:element_packed", "pack_pair:f16"] {
            assert!(bare.contains(slot), "{pin} has no {slot}: {bare}");
        }
        assert!(!bare.contains("=f16") && !bare.contains("<f16"), "{bare}");
        let bare = kernel(F32, &fixtures::bare_webgpu(), pin);
        assert!(bare.contains("dims:ring") && !bare.contains("packed"), "{bare}");
        let full = kernel(F16, &fixtures::lavapipe(), pin);
        assert!(full.contains("a_unit=f16") && !full.contains("packed") && !full.contains("dims"), "{full}");
        let half = kernel(F16, &fixtures::swiftshader(), pin);
        assert!(half.contains("packed") && !half.contains("dims"), "{half}");
    }
}

/// How A is staged when it is (m, k) with these strides: the number in the kernel's text.
fn stage_of_a(shape: [usize; 2], strides: [usize; 2], offset: usize) -> String {
    let a = laid::view(&shape, &strides, offset);
    let b = flat(&[shape[1], 64]);
    let c = flat(&[shape[0], 64]);
    let problem = GemmProblem::new(&a, &b, &c, F32).unwrap().pinned(Pin::Kernel(GemmKernel::Tiled));
    let kernel = first_kernel(&problem, &fixtures::rtx_4090());
    let stage = kernel.split("A_STAGE=").nth(1).and_then(|rest| rest.chars().next()).expect("A is staged");
    let vector = kernel.contains("load_a:four") && kernel.contains("a_unit=vec4<f32>");
    assert_eq!(vector, stage >= '2', "{kernel}");
    ["scalars along k", "scalars along m", "vectors along m", "squares along k"]
        [stage as usize - '0' as usize]
        .into()
}

#[test]
fn vectors_are_loaded_only_where_extents_strides_and_offsets_are_multiples_of_four() {
    assert_eq!(stage_of_a([64, 64], [64, 1], 0), "squares along k");
    assert_eq!(stage_of_a([63, 64], [64, 1], 0), "squares along k");
    assert_eq!(stage_of_a([64, 64], [68, 1], 12), "squares along k");
    assert_eq!(stage_of_a([64, 63], [64, 1], 0), "squares along k");
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
        let [a, b] = [[64, 64], [64, cols]].map(|shape| flat(&shape));
        let c = laid::view(&[64, cols], &[row, 1], offset);
        let problem = GemmProblem::new(&a, &b, &c, types).unwrap().pinned(Pin::Kernel(GemmKernel::Tiled));
        [fixtures::lavapipe(), fixtures::swiftshader()].map(|caps| {
            let kernel = first_kernel(&problem, &caps);
            let of_slot =
                |slot: &str| kernel.split(' ').find_map(|word| word.strip_prefix(slot).map(str::to_owned));
            of_slot("store_c:").or_else(|| of_slot("save_c:")).unwrap_or_else(|| "element".into())
        })
    };
    assert_eq!(stores(64, 64, 0, F16), ["vector", "vector_packed"]);
    assert_eq!(stores(64, 68, 4, F16), ["vector", "vector_packed"]);
    assert_eq!(stores(64, 64, 0, F32), ["vector", "vector"]);
    for (cols, row, offset) in [(62, 64, 0), (64, 65, 0), (64, 64, 2)] {
        assert_eq!(stores(cols, row, offset, F16), ["element", "element_packed"], "{cols} {row} {offset}");
        assert_eq!(stores(cols, row, offset, F32), ["element", "element"], "{cols} {row} {offset}");
    }
}

#[test]
fn a_grid_is_folded_over_three_axes_and_covers_its_blocks() {
    const MOST: u32 = 65_535;
    assert_eq!(fold_grid("test", 0, MOST).unwrap(), [1, 1, 1]);
    assert_eq!(fold_grid("test", 1, MOST).unwrap(), [1, 1, 1]);
    assert_eq!(fold_grid("test", 65_535, MOST).unwrap(), [65_535, 1, 1]);
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
        let grid = fold_grid("test", blocks, limit).unwrap();
        assert!(grid.iter().all(|&axis| (1..=limit).contains(&axis)), "{blocks}: {grid:?}");
        let [x, y, z] = grid.map(u64::from);
        assert!(x * y * z >= blocks, "{blocks}: {grid:?} leaves some out");
        assert!(x * y * z < blocks + y * z, "{blocks}: {grid:?} could be narrower");
    }
    for (blocks, limit) in [(1001, 10), (2, 1), (65_535 * 65_535, MOST), (1 << 32, MOST), (u64::MAX, MOST)] {
        let error = fold_grid("test", blocks, limit).expect_err("too many blocks");
        let Error::Limit { op: "test", needed, allowed, .. } = error else { panic!("{error:?}") };
        assert!(needed == blocks && allowed < needed, "{error}");
    }
}

#[test]
fn a_product_with_more_blocks_than_one_axis_holds_is_folded() {
    let problem = wgsl::plain([1 << 22, 1, 4], F32).pinned(Pin::Kernel(GemmKernel::Naive));
    let plan = problem.plan(&fixtures::h200()).unwrap();
    let grid = plan.steps()[0].grid;
    assert!(grid[1] >= 2 && grid[0] <= 65_535, "{plan}");
    assert!(grid.iter().map(|&axis| u64::from(axis)).product::<u64>() >= 1 << 16, "{plan}");
}

#[test]
fn what_every_device_would_run_is_valid_there() {
    const SIZES: [usize; 5] = [1, 4, 63, 64, 1030];
    let levels = [TYPES.len(), 5, 5, 5, View::ALL.len(), View::ALL.len(), View::OUTPUTS.len()];
    for (name, caps) in fixtures::ALL {
        let caps = &caps();
        let mut kernels = BTreeSet::new();
        for row in support::pairs::sweep(&levels, &[&[0, 4, 5, 6]]) {
            let views = [View::ALL[row[4]], View::ALL[row[5]], View::OUTPUTS[row[6]]];
            let problem = wgsl::problem([SIZES[row[1]], SIZES[row[2]], SIZES[row[3]]], TYPES[row[0]], views);
            // Every tile on matrices in turn, where the device has them.
            let coop = GemmKernel::Coop.tiles();
            let coop = Pin::Tile(coop[kernels.len() % coop.len()]);
            for pin in [Pin::Free, Pin::Kernel(GemmKernel::Naive), Pin::Kernel(GemmKernel::Tiled), coop] {
                let plan = match problem.pinned(pin).explain(caps) {
                    Err(Error::Unsupported { .. }) if pin == coop => continue,
                    plan => plan.unwrap_or_else(|error| panic!("{name}: {error}")),
                };
                for kernel in wgsl::kernels_of(&plan) {
                    if kernels.insert(kernel.to_string()) {
                        let text = kernel.specialize().unwrap();
                        let validated = wgsl::validate(&text, wgsl::capabilities(caps));
                        validated.unwrap_or_else(|error| panic!("{name}: {plan}\n{error}"));
                    }
                }
            }
        }
        let least = support::by_sweep(30, 30, 15);
        assert!(kernels.len() > least, "{name}: {} kernels", kernels.len());
    }
}

#[test]
fn an_operand_half_of_which_is_made_takes_the_tile_and_parts_of_one_in_memory() {
    let shapes = [[1, 2, 2], [3, 2, 70], [64, 66, 70], [4, 4096, 2], [300, 512, 4096], [2048, 2048, 2048]];
    for (name, caps) in fixtures::ALL {
        let types = TYPES.into_iter().chain([GemmTypes::new(DType::Bf16, DType::Bf16)]);
        for (shape, types) in types.flat_map(|types| shapes.map(|shape| (shape, types))) {
            for view in [View::Plain, View::Transposed] {
                let whole = wgsl::problem(shape, types, [View::Plain, view, View::Plain]).pinned(Pin::Staged);
                let want = whole.plan(&caps()).expect("some tile stages every type");
                for signs in wgsl::sign_half() {
                    let made = wgsl::halved(whole, signs, view).plan(&caps()).unwrap();
                    let taken = |plan: &Plan| {
                        let step = &plan.steps()[0];
                        (GemmKernel::of_step(step), step.tile.clone(), wgsl::parts_of(plan))
                    };
                    assert_eq!(taken(&made), taken(&want), "{shape:?} on {name}");
                    // The only ones that can make signs are those.
                    let free = wgsl::halved(whole, signs, view).pinned(Pin::Free).plan(&caps()).unwrap();
                    assert_eq!(free, made);
                }
            }
        }
    }
}

#[test]
fn what_is_no_half_of_an_operand_is_an_error_with_both_shapes() {
    let whole = wgsl::plain([4, 6, 8], F32);
    for signs in wgsl::sign_half() {
        for shape in [&[8, 6][..], &[4, 3], &[8, 2], &[3, 6], &[8], &[1, 8, 3]] {
            let half = flat(shape);
            let error = whole.sign_half(signs, &half).unwrap_err();
            assert!(matches!(error, Error::Shape { lhs, .. } if lhs == shape), "{shape:?}");
        }
    }
}

/// A layout may have strides whose multiples exceed 64 bits, though no buffer is that large.
#[test]
fn strides_that_no_buffer_has_are_errors() {
    let far = laid::view(&[2, 2], &[1, 1 << 63], 0);
    let near = flat(&[2, 2]);
    let (f32, add) = (DType::F32, Elementwise::ADD);
    for error in [
        CopyProblem::new(&far, &near, f32).unwrap_err(),
        CopyProblem::new(&near, &far, f32).unwrap_err(),
        ElementwiseProblem::of_one_type(add.clone(), &[&near, &far], &near, f32).unwrap_err(),
        ElementwiseProblem::of_one_type(add, &[&near, &near], &far, f32).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Limit { .. }), "{error}");
    }
}

/// A stride that shaders cannot count is no error if merging axes removes it.
#[test]
fn strides_are_checked_after_axes_are_merged() {
    let far = laid::view(&[3, 2048, 5], &[2048 << 20, 1 << 20, 2], 0);
    let near = flat(far.shape());
    let f32 = DType::F32;
    CopyProblem::new(&far, &near, f32).unwrap();
    CastProblem::new(&far, f32, DType::F16, Overflow::Rust).unwrap();
    ElementwiseProblem::of_one_type(Elementwise::ADD, &[&far, &near], &near, f32).unwrap();
    LossProblem::new(LossFunction::Mse, [&far, &far], None, f32).unwrap();
    let layouts = NormLayouts { a: &far, b: None, gamma: None, beta: None };
    NormProblem::new(NormKind::Rms, NormPass::Forward, layouts, f32).unwrap();
    // Another operand keeps the axes apart.
    let apart = laid::view(far.shape(), &[1 << 20, 5, 1], 0);
    fails(ElementwiseProblem::of_one_type(Elementwise::ADD, &[&far, &apart], &near, f32), Kind::Limit, &[]);
}

#[test]
fn a_residual_has_the_shape_of_the_product() {
    let residual = |shape: &[usize]| {
        let product = GemmProblem::new(&flat(&[4, 5]), &flat(&[5, 6]), &flat(&[4, 6]), F32).unwrap();
        product.residual(&flat(shape), &flat(shape), DType::F32)
    };
    for shape in [&[2, 2][..], &[6, 4], &[6], &[2, 4, 6], &[1, 1, 1, 4, 6]] {
        assert!(matches!(residual(shape), Err(Error::Shape { .. })), "{shape:?}");
    }
    assert!(residual(&[4, 6]).is_ok());
}

#[test]
fn rows_of_an_empty_split_are_limited() {
    let rows = 1 << 16;
    for (shape, side) in [([rows, rows, 0], Side::A), ([rows, 0, rows], Side::B)] {
        let split = F16SplitProblem::new(&flat(&shape), side, Precision::Fast);
        assert!(matches!(split, Err(Error::Limit { .. })), "{shape:?}");
    }
}
