//! Matrix products: every kernel and tile against the f64 reference, in every layout and type.

use std::collections::BTreeMap;
use support::operand::View;
use support::product::{Case, Typed, check, check_summed};
use support::wgsl;
use tilewise::gemm::{Accumulator, GemmKernel, SplitK, Tile};
use tilewise::planning::gemm::GemmTypes;
use tilewise::{DType, Element, F8E4M3, F8E5M2, Fill, Gemm, Gpu, bf16, f16, matmul, reference};

const OUTER: [usize; 11] = [1, 3, 16, 17, 31, 63, 64, 65, 127, 128, 129]; // below, on and above every tile edge
const INNER: [usize; 9] = [0, 1, 4, 7, 8, 9, 16, 33, 132];
const TYPED: [Typed; 11] = [
    Typed::of::<f32, f32>(),
    Typed::of::<f16, f32>(),
    Typed::of::<f16, f16>(),
    Typed {
        types: GemmTypes { accumulator: Accumulator::F16, ..GemmTypes::new(DType::F16, DType::F32) },
        check: |gpu, case| check_summed::<f16, f32>(gpu, case, Accumulator::F16),
    },
    Typed::of::<f32, f16>(),
    Typed::of::<bf16, f32>(),
    Typed::of::<bf16, bf16>(),
    Typed::of::<f16, bf16>(),
    Typed::of::<f32, bf16>(),
    Typed::of::<F8E4M3, f32>(),
    Typed::of::<F8E5M2, bf16>(),
];

/// The types and views that a tile is tested with in place of these. The larger a patch, the longer software drivers take to
/// compile it, up to four seconds. So those of 4x4 are tested in all ways; those of more than 64 accumulators with each way of
/// loading once, and those between with some ways of storing and stepping too. `TILEWISE_SWEEP=full` has all.
fn ways(tile: &Tile, typed: usize, views: [View; 3]) -> (usize, [View; 3]) {
    const EACH_LOAD: [(usize, [View; 3]); 3] = [
        (0, [View::Plain, View::Plain, View::Plain]),             // f32
        (1, [View::Transposed, View::Transposed, View::Gaps]),    // f16
        (5, [View::Padded, View::TransposedGaps, View::Aligned]), // bf16
    ];
    const SOME_STORES: [(usize, [View; 3]); 3] = [
        (2, [View::Gaps, View::Plain, View::Aligned]), // f16, in vectors
        (3, [View::Plain, View::Gaps, View::Plain]),   // sums in f16
        (8, [View::TransposedGaps, View::Plain, View::Gaps]), // f32 to bf16
    ];
    match tile.tm * tile.tn {
        _ if support::is_full_sweep() => (typed, views),
        65.. => EACH_LOAD[typed % 3],
        17.. if typed < 6 => EACH_LOAD[typed % 3],
        17.. => SOME_STORES[typed % 3],
        _ => (typed, views),
    }
}

#[test]
fn every_scalar_kernel_and_tile_agrees_with_the_reference() {
    let Some(gpu) = support::gpu() else { return };
    let tiles: Vec<Tile> = crate::scalar(gpu.caps()).flat_map(GemmKernel::tiles).copied().collect();
    let levels = [
        tiles.len(),
        TYPED.len(),
        OUTER.len(),
        OUTER.len(),
        INNER.len(),
        View::ALL.len(),
        View::ALL.len(),
        View::OUTPUTS.len(),
    ];
    let ways = |row: &[usize]| {
        ways(&tiles[row[0]], row[1], [View::ALL[row[5]], View::ALL[row[6]], View::OUTPUTS[row[7]]])
    };
    let case = |row: &[usize]| Case {
        tile: tiles[row[0]],
        shape: [OUTER[row[2]], OUTER[row[3]], INNER[row[4]]],
        views: ways(row).1,
    };
    let typed = |row: &[usize]| &TYPED[ways(row).0];
    let kernel = |row: &[usize]| case(row).kernel(typed(row).types, gpu.caps());
    let mut launches: BTreeMap<String, usize> = BTreeMap::new();
    let before = gpu.stats();
    let shapes_and_views: [&[usize]; 2] = [&[0, 1, 2, 3, 4], &[0, 1, 5, 6, 7]];
    for row in support::pairs::sweep_sharing(&levels, &shapes_and_views, kernel) {
        let case = case(&row);
        let done = (typed(&row).check)(&gpu, &case);
        *launches.entry(format!("{} {}", case.tile.kernel, case.tile)).or_default() += done;
    }
    let pipelines = gpu.stats().pipelines - before.pipelines;
    println!("{}: {pipelines} pipelines, launches {launches:#?}", gpu.caps().adapter);
    let any = wgsl::plain([64; 3], wgsl::TYPES[0]);
    for tile in tiles {
        let launched = launches[&format!("{} {tile}", tile.kernel)] > 0;
        assert_eq!(launched, tile.fits(&any, gpu.caps()).is_ok(), "{} {tile}", tile.kernel);
    }
}

#[test]
fn a_tile_whose_second_stage_does_not_fit_has_one() {
    let Some(gpu) = support::bare() else { return };
    for tile in GemmKernel::Tiled.tiles() {
        let case = Case { tile: *tile, shape: [129, 67, 41], views: [View::Plain; 3] };
        let fits = tile.fits(&wgsl::plain(case.shape, wgsl::TYPES[0]), gpu.caps());
        assert_eq!(check::<f32, f32>(&gpu, &case) > 0, fits.is_ok(), "{tile}: {fits:?}");
    }
    let a = gpu.random::<f32>([128, 128], Fill::Uniform, 1).unwrap();
    let largest =
        Gemm::new(&a, &a).tile(GemmKernel::Tiled.tiles()[0]).plan().unwrap().steps()[0].kernel.to_string();
    assert!(largest.contains("STAGES=1"), "{largest}");
}

#[test]
fn sums_in_f16_are_less_precise_and_only_where_they_are_allowed() {
    let Some(gpu) = support::gpu() else { return };
    if !gpu.caps().f16 {
        println!("unable: {} has no f16", gpu.caps().adapter);
        return;
    }
    let shape @ [m, n, k] = [64, 64, 100];
    let (a, b) = (Fill::Uniform.values::<f16>(m * k, 3), Fill::Uniform.values::<f16>(k * n, 4));
    let want = reference::gemm(&a, &b, shape);
    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    let deepest = |tiles: &[Tile]| tiles.iter().max_by_key(|tile| tile.bk).copied().unwrap();
    let bound = deepest(GemmKernel::Tiled.tiles()).bk as usize;
    assert_eq!(bound, reference::MAX_F16_PRODUCTS, "the bound is for the deepest step");
    let product = Gemm::new(&a, &b).tile(deepest(&crate::tiles_for(gpu.caps(), GemmKernel::Tiled)));
    let [precise, allowed] = [Accumulator::F32, Accumulator::F16].map(|sums| {
        let got = product.clone().accumulator(sums).run().unwrap().to_vec().unwrap();
        let found = want.clone().accumulator(sums).compare(&got);
        assert!(found.ok(), "{sums:?}: {found:?}");
        (found, want.compare(&got))
    });
    assert!(precise.1.ok(), "f32 sums keep f32's bound: {precise:?}");
    assert!(!allowed.1.ok() && allowed.0.bound_ratio < 0.5, "f16 sums do not, but their own: {allowed:?}");
}

#[test]
fn a_long_inner_size_stays_within_the_bound() {
    let Some(gpu) = support::gpu() else { return };
    let shape @ [m, n, k] = [33, 65, 8192];
    let (a, b) = (Fill::Uniform.values::<f32>(m * k, 3), Fill::Uniform.values::<f32>(k * n, 4));
    let want = reference::gemm(&a, &b, shape);
    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    for kernel in crate::scalar(gpu.caps()) {
        let got = Gemm::new(&a, &b).kernel(kernel).run().unwrap().to_vec().unwrap();
        let found = want.compare(&got);
        assert!(found.ok() && found.bound_ratio > 0.0, "{kernel}: {found:?}");
    }
}

#[test]
fn repeated_and_overlapping_operands_are_read_as_they_lie() {
    let Some(gpu) = support::gpu() else { return };
    let data = Fill::Integers.values::<f32>(200, 12);
    let flat = gpu.tensor(&data, [200]).unwrap();
    let b = Fill::Integers.values::<f32>(64 * 32, 13);
    let b_tensor = gpu.tensor(&b, [64, 32]).unwrap();
    // One row for all; windows that overlap, as a convolution would read them.
    for strides in [[0, 1], [1, 0], [1, 1], [3, 2]] {
        let a_tensor = flat.as_strided(&[16, 64], &strides, 5).unwrap();
        let a: Vec<f32> = (0..16 * 64).map(|i| data[5 + i / 64 * strides[0] + i % 64 * strides[1]]).collect();
        let want: Vec<f32> =
            reference::gemm(&a, &b, [16, 32, 64]).value.iter().map(|&v| f32::from_f64(v)).collect();
        for kernel in crate::scalar(gpu.caps()) {
            let got = Gemm::new(&a_tensor, &b_tensor).kernel(kernel).run().unwrap().to_vec().unwrap();
            assert_eq!(got, want, "{kernel}, strides {strides:?}");
        }
    }
}

#[test]
fn the_same_plan_gives_the_same_bits() {
    let Some(gpu) = support::gpu() else { return };
    let a = gpu.random::<f32>([127, 200], Fill::Uniform, 5).unwrap();
    let b = gpu.random::<f32>([200, 65], Fill::Uniform, 6).unwrap();
    for kernel in crate::scalar(gpu.caps()) {
        let product = Gemm::new(&a, &b).kernel(kernel);
        let first = product.run().unwrap().to_vec().unwrap();
        assert_eq!(first, product.run().unwrap().to_vec().unwrap(), "{kernel}");
    }
}

#[test]
fn the_transpose_of_a_product_is_the_product_of_the_transposes() {
    let Some(gpu) = support::gpu() else { return };
    let a = gpu.random::<f16>([37, 45], Fill::Integers, 7).unwrap();
    let b = gpu.random::<f16>([45, 29], Fill::Integers, 8).unwrap();
    let product = matmul(&a, &b).unwrap();
    let transposed = matmul(&b.t(), &a.t()).unwrap();
    assert_eq!(product.t().to_vec().unwrap(), transposed.to_vec().unwrap());
}

#[test]
fn one_product_is_one_launch_that_allocates_its_result_and_nothing_else() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap(); // its own: other tests count on the shared one at the same time
    let a = gpu.random::<f16>([100, 300], Fill::Uniform, 9).unwrap();
    let b = gpu.random::<f16>([200, 300], Fill::Uniform, 10).unwrap();
    let before = gpu.stats();
    // GPUs would add k in parts, in a second launch.
    let b = b.t();
    let product = Gemm::new(&a, &b).split_k(SplitK::Splits(1));
    let mut c = product.run().unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, 1);
    assert_eq!(after.buffers_created - before.buffers_created, 1, "C alone; the transposed view is no copy");
    assert_eq!(after.bytes_bound_for_reading - before.bytes_bound_for_reading, 2 * (100 * 300 + 200 * 300));
    assert_eq!(after.bytes_bound_for_writing - before.bytes_bound_for_writing, 4 * 100 * 200);
    product.run_into(&mut c).unwrap();
    assert_eq!(
        gpu.stats().buffers_created,
        after.buffers_created,
        "a product into a tensor allocates nothing"
    );
    assert_eq!(gpu.stats().bytes_in_use, after.bytes_in_use);
}

#[test]
fn products_whose_results_are_dropped_take_turns_in_a_handful_of_buffers() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap();
    let a = gpu.random::<f32>([64, 64], Fill::Uniform, 11).unwrap();
    let first = matmul(&a, &a).unwrap().to_vec().unwrap();
    let before = gpu.stats();
    for _ in 0..1000 {
        drop(matmul(&a, &a).unwrap());
    }
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, 1000);
    assert_eq!(after.pipelines, before.pipelines, "a problem seen before compiles nothing");
    assert!(after.buffers_created - before.buffers_created <= 4, "{after:?}");
    assert!(after.bytes_peak <= 8 * 64 * 64 * 4, "{after:?}");
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), first);
}

#[test]
fn a_new_shape_compiles_no_new_pipeline() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap();
    let product = |m: usize, n: usize, k: usize| {
        let a = gpu.random::<f32>([m, k], Fill::Uniform, 1).unwrap();
        let b = gpu.random::<f32>([k, n], Fill::Uniform, 2).unwrap();
        Gemm::new(&a, &b).kernel(GemmKernel::Naive).run().unwrap();
    };
    product(5, 6, 7);
    let before = gpu.stats().pipelines;
    product(50, 61, 72);
    assert_eq!(gpu.stats().pipelines, before);
}

#[test]
fn empty_products_are_empty_and_empty_sums_are_zero() {
    let Some(gpu) = support::gpu() else { return };
    let empty = |m: usize, n: usize, k: usize| {
        let a = gpu.tensor(&vec![f32::NAN; m * k], [m, k]).unwrap();
        let b = gpu.tensor(&vec![f32::NAN; k * n], [k, n]).unwrap();
        let launches = gpu.stats().launches;
        let c = matmul(&a, &b).unwrap();
        (c.shape().to_vec(), c.to_vec().unwrap(), gpu.stats().launches >= launches)
    };
    assert_eq!(empty(0, 5, 3), (vec![0, 5], vec![], true));
    assert_eq!(empty(5, 0, 3), (vec![5, 0], vec![], true));
    assert_eq!(empty(0, 0, 0), (vec![0, 0], vec![], true));
    assert_eq!(empty(3, 2, 0), (vec![3, 2], vec![0.0; 6], true));
    let (a, b) = (gpu.tensor::<f32>(&[], [64, 0]).unwrap(), gpu.tensor(&[], [0, 64]).unwrap());
    for kernel in crate::scalar(gpu.caps()) {
        let product = Gemm::new(&a, &b).kernel(kernel).run().unwrap().to_vec().unwrap();
        assert_eq!(product, vec![0.0; 64 * 64], "{kernel}");
    }
}
