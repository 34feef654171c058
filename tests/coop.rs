//! The kernel on cooperative matrices: every tile against the f64 reference, in every way of loading and storing.

mod support;

use std::collections::BTreeMap;
use support::operand::View;
use support::product::{Case, check};
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::{Fill, Gemm, Gpu, f16};

/// By units along k and along the outer axis, then by elements: of A (m, k), and the other way round of B (k, n).
const LOADS: [View; 4] = [View::Padded, View::TransposedPadded, View::Gaps, View::TransposedGaps];
/// The result's type and layout: matrices as a whole, elements, vectors, elements.
const STORES: [(Out, View); 4] =
    [(Out::F32, View::Aligned), (Out::F32, View::Gaps), (Out::F16, View::Aligned), (Out::F16, View::Gaps)];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Out {
    F32,
    F16,
}

/// Everything that makes a pipeline.
#[derive(Clone, Copy, Debug)]
struct Variant {
    tile: Tile,
    loads: [View; 2],
    store: (Out, View),
}

/// Every tile in one way, such that every way of loading and storing is taken: a pipeline takes a software driver many
/// seconds. With `TILEWISE_SWEEP=full` every tile in every way.
fn variants(fragment: u32) -> Vec<Variant> {
    let tiles = || GemmKernel::Coop.tiles().iter().filter(move |tile| tile.fragment == fragment);
    let variant = |tile: &Tile, a: usize, b: usize, c: usize| Variant {
        tile: *tile,
        loads: [LOADS[a % 4], LOADS[b % 4]],
        store: STORES[c % 4],
    };
    if std::env::var("TILEWISE_SWEEP").as_deref() == Ok("full") {
        return tiles().flat_map(|tile| (0..64).map(move |i| variant(tile, i, i / 4, i / 16))).collect();
    }
    // The rows and columns of A meet those of B in all four ways.
    const OF_B: [usize; 6] = [0, 1, 3, 2, 1, 0];
    tiles().enumerate().map(|(i, tile)| variant(tile, i, OF_B[i % 6], i)).collect()
}

/// On, below and above the edges of blocks and steps; more rows of blocks than one group; nothing along k.
fn shapes(tile: &Tile) -> Vec<[usize; 3]> {
    let [m, n, k] = [tile.bm, tile.bn, tile.bk].map(|size| size as usize);
    vec![
        [2, 2, 1],
        [m, n, k],
        [m + 1, n - 1, 3 * k + 3],
        [m - 7, 2 * n + 9, 2 * k],
        [1, n, 5 * k - 1],
        [9 * m + 1, 17, 7],
        [5, 6, 0],
    ]
}

/// Runs every variant over its shapes, and says how often each tile was launched.
fn sweep(gpu: &Gpu, fragment: u32) {
    let mut launches: BTreeMap<String, usize> = BTreeMap::new();
    let before = gpu.stats();
    for Variant { tile, loads: [a, b], store: (out, c) } in variants(fragment) {
        for [m, n, k] in shapes(&tile) {
            // Vectors of f16 leave only where rows are whole vectors.
            let n = if out == Out::F16 && c == View::Aligned { n.next_multiple_of(4) } else { n };
            let case = Case { tile, shape: [m, n, k], views: [a, b, c] };
            let started = std::time::Instant::now();
            *launches.entry(tile.to_string()).or_default() += match out {
                Out::F32 => check::<f16, f32>(gpu, &case),
                Out::F16 => check::<f16, f16>(gpu, &case),
            };
            eprintln!("{tile} {a:?} {b:?} {out:?} {c:?} {m}x{n}x{k}: {:?}", started.elapsed());
        }
    }
    let pipelines = gpu.stats().pipelines - before.pipelines;
    println!("{}: coop, {pipelines} pipelines, launches {launches:#?}", gpu.caps().adapter);
    let tiles = GemmKernel::Coop.tiles().iter().filter(|tile| tile.fragment == fragment).count();
    assert_eq!(launches.len(), tiles);
    for (tile, &launches) in &launches {
        assert!(launches > 0, "{tile} was never launched");
    }
}

#[test]
fn every_tile_of_8x8_matrices_agrees_with_the_reference() {
    let Some(gpu) = support::gpu() else { return };
    if !listed(&gpu, 8) {
        return;
    }
    sweep(&gpu, 8);
}

/// Whether matrices of this size can be used; says so where not.
fn listed(gpu: &Gpu, size: u32) -> bool {
    use tilewise::gpu::CoopScalar::{F16, F32};
    let lacks = gpu.caps().coop(size, F16, F32);
    if let Err(lacks) = &lacks {
        println!("unable: {} has no {lacks}", gpu.caps().adapter);
    }
    lacks.is_ok()
}

#[test]
fn repeated_products_give_the_same_bits() {
    let Some(gpu) = support::gpu() else { return };
    if !gpu.caps().has_tensor_cores() {
        println!("unable: {} has no tensor cores", gpu.caps().adapter);
        return;
    }
    let a = gpu.random::<f16>([127, 200], Fill::Uniform, 5).unwrap();
    let b = gpu.random::<f16>([200, 65], Fill::Uniform, 6).unwrap();
    let product = Gemm::new(&a, &b).kernel(GemmKernel::Coop);
    let first = product.run().unwrap().to_vec().unwrap();
    for _ in 0..5 {
        let again = product.run().unwrap().to_vec().unwrap();
        assert_eq!(bytemuck::cast_slice::<f32, u32>(&first), bytemuck::cast_slice::<f32, u32>(&again));
    }
}
