//! Thin products: every tile of their kernel against the f64 reference, with few rows and few columns, in every layout
//! and type.

use std::collections::BTreeMap;
use support::operand::View;
use support::product::{Case, Typed};
use support::wgsl;
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::ops::Activation;
use tilewise::{Element, F8E4M3, F8E5M2, Fill, Gemm, bf16, f16, reference};

/// Rows or columns that are thin: powers of two, and what is rounded up to one.
const THIN: [usize; 6] = [1, 2, 3, 4, 5, 8];
const LONG: [usize; 10] = [1, 3, 8, 15, 16, 17, 65, 129, 256, 300]; // below, on and above edges of tiles
const INNER: [usize; 10] = [0, 1, 3, 4, 5, 63, 64, 65, 1000, 4099];
/// How operands and C lie: a plain B has vectors along its outer axis, a plain A along k.
const LAYOUTS: [[View; 3]; 5] = [
    [View::Plain, View::Plain, View::Plain],
    [View::Padded, View::Padded, View::Aligned],
    [View::TransposedPadded, View::TransposedPadded, View::Gaps],
    [View::TransposedGaps, View::Gaps, View::Plain],
    [View::Steps, View::TransposedGaps, View::Gaps],
];
const TYPED: [Typed; 7] = [
    Typed::of::<f32, f32>(),
    Typed::of::<f16, f32>(),
    Typed::of::<f16, f16>(),
    Typed::of::<bf16, bf16>(),
    Typed::of::<f32, f16>(),
    Typed::of::<F8E4M3, f32>(),
    Typed::of::<F8E5M2, f16>(),
];
/// Which operand is long: B, of few rows of A, or A, of few columns of B.
const SIDES: usize = 2;

#[test]
fn every_tile_agrees_with_the_reference_on_thin_products() {
    let Some(gpu) = support::gpu() else { return };
    let tiles = GemmKernel::Gemv.tiles();
    let levels = [tiles.len(), TYPED.len(), THIN.len(), LAYOUTS.len(), SIDES, LONG.len(), INNER.len()];
    let case = |row: &[usize]| {
        let [thin, long, inner] = [THIN[row[2]], LONG[row[5]], INNER[row[6]]];
        let shape = if row[4] == 0 { [thin, long, inner] } else { [long, thin, inner] };
        Case { tile: tiles[row[0]], shape, views: LAYOUTS[row[3]] }
    };
    let kernel = |row: &[usize]| case(row).kernel(TYPED[row[1]].types, gpu.caps());
    let mut launches: BTreeMap<String, usize> = BTreeMap::new();
    let before = gpu.stats();
    let of_pipelines_and_sizes: [&[usize]; 2] = [&[0, 1, 2, 3, 4], &[0, 4, 5, 6]];
    for row in support::pairs::sweep_sharing(&levels, &of_pipelines_and_sizes, kernel) {
        let case = case(&row);
        *launches.entry(case.tile.to_string()).or_default() += (TYPED[row[1]].check)(&gpu, &case);
    }
    let pipelines = gpu.stats().pipelines - before.pipelines;
    println!("{}: {pipelines} pipelines, launches {launches:#?}", gpu.caps().adapter);
    for tile in tiles {
        let fits = tile.fits(&wgsl::plain([1, 64, 64], wgsl::TYPES[0]), gpu.caps());
        assert_eq!(launches[&tile.to_string()] > 0, fits.is_ok(), "{tile}: {fits:?}");
    }
}

#[test]
fn what_a_thin_product_cannot_be_is_an_error_that_says_so() {
    let Some(gpu) = support::gpu() else { return };
    let a = gpu.random::<f32>([9, 16], Fill::Uniform, 1).unwrap();
    let refused = Gemm::new(&a, &a.t()).kernel(GemmKernel::Gemv).run().expect_err("nine by nine");
    assert!(refused.to_string().contains("m or n of at most 8"), "{refused}");
}

#[test]
fn parts_of_k_add_up_to_the_whole() {
    let Some(gpu) = support::gpu() else { return };
    let shapes = [[1, 130, 1030], [70, 3, 515], [5, 9, 4099], [8, 64, 33]];
    for shape @ [m, n, k] in shapes.into_iter().take(support::by_sweep(4, 4, 2)) {
        let (a, b) = (Fill::Integers.values::<f32>(m * k, 3), Fill::Integers.values::<f32>(k * n, 4));
        let want: Vec<f32> = reference::gemm(&a, &b, shape).value.iter().map(|&v| f32::from_f64(v)).collect();
        let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
        let b_columns = b.t().contiguous().unwrap();
        for b in [&b, &b_columns.t()] {
            for parts in [1, 2, 5, 64] {
                let product = Gemm::new(&a, b).kernel(GemmKernel::Gemv).split_k(SplitK::Splits(parts));
                assert_eq!(product.run().unwrap().to_vec().unwrap(), want, "{shape:?} in {parts}");
            }
        }
    }
}

#[test]
fn a_batch_of_thin_products_has_a_matrix_each_and_broadcasts() {
    let Some(gpu) = support::gpu() else { return };
    for [m, n, k] in [[1, 37, 70], [41, 2, 66]] {
        let a = Fill::Integers.values::<f32>(3 * m * k, 5);
        let b = Fill::Integers.values::<f32>(2 * k * n, 6);
        let [a_tensor, b_tensor] = [
            gpu.tensor(&a, [3 * m * k]).unwrap().reshape([3, 1, m, k]).unwrap(),
            gpu.tensor(&b, [2 * k * n]).unwrap().reshape([1, 2, k, n]).unwrap(),
        ];
        for parts in [1, 3] {
            let product =
                Gemm::new(&a_tensor, &b_tensor).kernel(GemmKernel::Gemv).split_k(SplitK::Splits(parts));
            let got = product.run().unwrap().to_vec().unwrap();
            for (at, got) in got.chunks(m * n).enumerate() {
                let (i, j) = (at / 2, at % 2);
                let [a, b] = [&a[i * m * k..(i + 1) * m * k], &b[j * k * n..(j + 1) * k * n]];
                let want = reference::gemm(a, b, [m, n, k]).value;
                assert!(got.iter().zip(&want).all(|(&got, &want)| f64::from(got) == want), "{m} {n}, {at}");
            }
        }
    }
}

#[test]
fn an_epilogue_is_that_of_any_other_kernel() {
    let Some(gpu) = support::gpu() else { return };
    let shapes = [[3, 50, 40], [50, 3, 40], [8, 64, 64], [64, 8, 64]];
    for [m, n, k] in shapes.into_iter().take(support::by_sweep(4, 4, 2)) {
        let a = gpu.random::<f32>([m, k], Fill::Integers, 7).unwrap();
        let b = gpu.random::<f32>([k, n], Fill::Integers, 8).unwrap();
        let bias = gpu.random::<f32>([n], Fill::Integers, 9).unwrap();
        let residual = gpu.random::<f32>([m, n], Fill::Integers, 10).unwrap();
        let product = |kernel, parts| {
            let mut c = gpu.random::<f32>([m, n], Fill::Integers, 11).unwrap();
            let product = Gemm::new(&a, &b).alpha(2.0).beta(-1.0).bias(&bias).residual(&residual);
            let product = product.activation(Activation::Relu).kernel(kernel).split_k(SplitK::Splits(parts));
            product.run_into(&mut c).unwrap();
            c.to_vec().unwrap()
        };
        let want = product(GemmKernel::Naive, 1);
        assert_eq!(product(GemmKernel::Gemv, 1), want, "{m} {n} {k}");
        assert_eq!(product(GemmKernel::Gemv, 2), want, "{m} {n} {k} in parts");
    }
}

#[test]
fn the_same_thin_product_has_the_same_bits() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let a = gpu.random::<f32>([3, 1000], Fill::Uniform, 5).unwrap();
    let b = gpu.random::<f32>([1000, 301], Fill::Uniform, 6).unwrap();
    for tile in GemmKernel::Gemv.tiles() {
        for parts in [1, 4] {
            let product = Gemm::new(&a, &b).tile(*tile).split_k(SplitK::Splits(parts));
            let Ok(first) = product.run() else { continue };
            assert_eq!(first.to_vec().unwrap(), product.run().unwrap().to_vec().unwrap(), "{tile}");
        }
    }
}
