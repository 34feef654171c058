//! The kernel on cooperative matrices: every tile against the f64 reference, in every way of loading and storing.

use std::collections::BTreeMap;
use support::TestGpu;
use support::operand::View;
use support::product::{Case, check};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::CoopScalar::{F16, F32};
use tilewise::gpu::{CoopRow, DeviceType, MatrixOrder};
use tilewise::planning::gemm::GemmTypes;
use tilewise::{DType, Fill, Gemm, Gpu, f16};

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

/// The tiles of a sweep. Those of 32 accumulators a subgroup and more take a software driver up to a minute each, and
/// run there with `TILEWISE_SWEEP=full` alone; their code is that of the others, more often. A short sweep has those of
/// subgroup tiles of 32 x 32 there, for the same reason.
fn tiles(gpu: &Gpu, fragment: u32) -> impl Iterator<Item = &'static Tile> {
    let all = support::is_full_sweep() || gpu.caps().device_type != DeviceType::Software;
    let most = if support::is_short_sweep() { 32 * 32 } else { 32 * fragment * fragment - 1 };
    let is_quick = move |tile: &Tile| all || tile.tm * tile.tn <= most;
    let product = support::wgsl::plain([64; 3], GemmTypes::new(DType::F16, DType::F32));
    let fits = move |tile: &Tile| {
        let fits = tile.fits(&product, gpu.caps());
        fits.iter().for_each(|why| println!("unable: {tile}: {why:?}"));
        fits.is_ok()
    };
    let wanted = move |tile: &&Tile| tile.fragment == fragment && is_quick(tile) && fits(tile);
    GemmKernel::Coop.tiles().iter().filter(wanted)
}

/// Every tile in one way, such that every way of loading and storing is taken: a pipeline takes a software driver many
/// seconds. With `TILEWISE_SWEEP=full` every tile in every way.
fn variants(gpu: &Gpu, fragment: u32) -> Vec<Variant> {
    let tiles: Vec<&Tile> = tiles(gpu, fragment).collect();
    let variant = |tile: &Tile, a: usize, b: usize, c: usize| Variant {
        tile: *tile,
        loads: [LOADS[a % 4], LOADS[b % 4]],
        store: STORES[c % 4],
    };
    let every =
        || tiles.iter().flat_map(|tile| (0..64).map(move |i| variant(tile, i, i / 4, i / 16))).collect();
    if let Some(variants) = support::of_full_sweep(every) {
        return variants;
    }
    // The rows and columns of A meet those of B in all four ways.
    const OF_B: [usize; 6] = [0, 1, 3, 2, 1, 0];
    let count = tiles.len().next_multiple_of(LOADS.len());
    tiles.iter().cycle().take(count).enumerate().map(|(i, tile)| variant(tile, i, OF_B[i % 6], i)).collect()
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

/// Runs every variant over its shapes, every second on the other device, and says how often each tile was launched. A
/// software driver compiles on the thread of a device's queue: two devices compile at once.
fn sweep(gpus: [&Gpu; 2], fragment: u32) {
    let variants = variants(gpus[0], fragment);
    // Tiles and methods of loading alternate too, so each device has some of all.
    let of = |which: usize| move |(i, _): &(usize, &Variant)| (i + i / 4) % 2 == which;
    let halves = [0, 1].map(|which| {
        variants.iter().enumerate().filter(of(which)).map(|(_, variant)| *variant).collect::<Vec<_>>()
    });
    let launches: BTreeMap<String, usize> = std::thread::scope(|scope| {
        let [one, other] = [0, 1].map(|i| {
            let (gpu, half) = (gpus[i], &halves[i]);
            scope.spawn(move || run_all(gpu, half))
        });
        let all =
            [one, other].map(|half| half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        all.into_iter().flatten().collect()
    });
    println!("{}: coop, launches {launches:#?}", gpus[0].caps().adapter);
    assert_eq!(launches.len(), tiles(gpus[0], fragment).count());
    for (tile, &launches) in &launches {
        assert!(launches > 0, "{tile} was never launched");
    }
}

/// The launches of each tile; `full` has every tile on both devices.
fn run_all(gpu: &Gpu, variants: &[Variant]) -> BTreeMap<String, usize> {
    let mut launches: BTreeMap<String, usize> = BTreeMap::new();
    for &Variant { tile, loads: [a, b], store: (out, c) } in variants {
        for [m, n, k] in shapes(&tile) {
            // Vectors of f16 leave only where rows are whole vectors.
            let n = if out == Out::F16 && c == View::Aligned { n.next_multiple_of(4) } else { n };
            let case = Case { tile, shape: [m, n, k], views: [a, b, c] };
            *launches.entry(tile.to_string()).or_default() += match out {
                Out::F32 => check::<f16, f32>(gpu, &case),
                Out::F16 => check::<f16, f16>(gpu, &case),
            };
        }
    }
    launches
}

#[test]
fn every_tile_of_8x8_matrices_agrees_with_the_reference() {
    if let (Some(gpu), Some(other)) = (able(8), support::own(|_| ())) {
        sweep([&gpu, &other], 8);
    }
}

#[test]
fn every_tile_of_16x16_matrices_agrees_with_the_reference() {
    let own = || able(16).and_then(|_| support::own(|_| ()));
    // Where the matrices are claimed, one of the devices transposes operands to rows along k, as AMD's do.
    let [gpu, other] =
        [MatrixOrder::Any, MatrixOrder::AlongK].map(|order| own().or_else(|| claiming(16, order)));
    if let (Some(gpu), Some(other)) = (gpu, other) {
        sweep([&gpu, &other], 16);
    }
}

/// The device, if it has matrices of this size; says so where not.
fn able(size: u32) -> Option<TestGpu> {
    let gpu = support::gpu()?;
    let lacks = gpu.caps().coop(size, F16, F32);
    if let Err(lacks) = &lacks {
        println!("unable: {} has no {lacks}", gpu.caps().adapter);
    }
    lacks.is_ok().then_some(gpu)
}

/// The device, with matrices of a size that it does not list, loaded in this order. Lavapipe computes with NVIDIA's and
/// AMD's all the same, and no tile should run for the first time on a scarce GPU. The validation layer objects, and what a
/// GPU would do nobody knows.
fn claiming(size: u32, order: MatrixOrder) -> Option<TestGpu> {
    let gpu = support::gpu()?;
    let caps = gpu.caps();
    if caps.rows.is_empty() || caps.device_type != DeviceType::Software || support::validates() {
        return None;
    }
    let claim = CoopRow { m: size, n: size, k: size, ..gpu.caps().rows[0] };
    let claiming = support::own(|options| {
        options.assume.rows = vec![CoopRow { a: F16, b: F16, c: F32, ..claim }];
        options.assume.matrix_order = Some(order);
    })?;
    claiming.caps().coop(size, F16, F32).expect("the self-test of a claimed row");
    Some(claiming)
}

/// The tile that compiles fastest, of matrices that the device lists.
fn small(gpu: &Gpu) -> Tile {
    let is_small = |tile: &&Tile| tile.bm == 32 && gpu.caps().coop(tile.fragment, F16, F32).is_ok();
    *GemmKernel::Coop.tiles().iter().find(is_small).expect("a tile of the size that is listed")
}

#[test]
fn repeated_products_give_the_same_bits() {
    let Some(gpu) = able(8).or_else(|| able(16)) else { return };
    let a = gpu.random::<f16>([127, 200], Fill::Uniform, 5).unwrap();
    let b = gpu.random::<f16>([200, 65], Fill::Uniform, 6).unwrap();
    let product = Gemm::new(&a, &b).tile(small(&gpu));
    let first = product.run().unwrap().to_vec().unwrap();
    for _ in 0..5 {
        let again = product.run().unwrap().to_vec().unwrap();
        assert_eq!(bytemuck::cast_slice::<f32, u32>(&first), bytemuck::cast_slice::<f32, u32>(&again));
    }
}

#[test]
fn a_new_shape_compiles_no_new_pipeline() {
    let Some(_) = able(8).or_else(|| able(16)) else { return };
    let Some(gpu) = support::own(|_| ()) else { return }; // other tests compile on the shared one at the same time
    let padded = |rows: usize, cols: usize| {
        let flat = gpu.random::<f16>([64 * 256], Fill::Uniform, 7).unwrap();
        flat.as_strided(&[rows, cols], &[256, 1], 0).unwrap()
    };
    let tile = small(&gpu);
    let product = |m: usize, n: usize, k: usize| {
        let (a, b) = (padded(m, k), padded(n, k));
        let mut c = gpu.empty::<f32>([64 * 256]).unwrap().as_strided(&[m, n], &[256, 1], 0).unwrap();
        // GPUs would add k in parts, by another pipeline.
        Gemm::new(&a, &b.t()).tile(tile).split_k(SplitK::Splits(1)).run_into(&mut c).unwrap();
    };
    product(32, 64, 32);
    let before = gpu.stats().pipelines;
    for [m, n, k] in [[1, 1, 1], [33, 1, 131], [1, 63, 7], [64, 64, 255], [31, 64, 0]] {
        product(m, n, k);
    }
    assert_eq!(gpu.stats().pipelines, before, "whatever the size, a line starts at a whole unit");
}
