//! The kernel on cooperative matrices as a module of SPIR-V: every type that the device has rows of, in every way of loading and
//! storing.

use support::TestGpu;
use support::operand::View;
use support::product::{Case, check, check_integers, check_summed};
use support::wgsl::{I8, plain};
use tilewise::gemm::{Accumulator, GemmKernel, Tile};
use tilewise::gpu::CoopScalar::{self, Bf16, F16, F32, I32};
use tilewise::gpu::{CoopRow, MatrixOrder, SubgroupSizes, Verdict};
use tilewise::planning::Problem;
use tilewise::planning::gemm::{GemmTypes, MAX_I8_K, Pin};
use tilewise::planning::kernel::Language;
use tilewise::{DType, Element, Error, Fill, Gemm, Gpu, GpuOptions, Tensor, bf16, f16};

/// By units along k and along the outer axis, then by elements: of A (m, k), and the other way round of B (k, n).
pub(crate) const LOADS: [View; 4] = [View::Padded, View::TransposedPadded, View::Gaps, View::TransposedGaps];
const STORES: [View; 2] = [View::Aligned, View::Gaps];

/// The device, if modules can use matrices of these types; says so where not.
fn able(ab: CoopScalar, c: CoopScalar) -> Option<TestGpu> {
    let gpu = support::gpu()?;
    let caps = gpu.caps();
    let is_used = |row: &CoopRow| row.is_used_in_spirv() || (row.is_spelled_in_wgsl() && c == F16);
    let is_able = caps.spirv && caps.rows_of(ab, c).any(is_used);
    if !is_able {
        println!("unable: {} has no matrices of {ab} with sums of {c} for modules of SPIR-V", caps.adapter);
    }
    is_able.then_some(gpu)
}

/// The kernel's tiles of a sweep, smallest first. Those of more accumulators a subgroup take a software driver a minute each to compile,
/// and run there with `TILEWISE_SWEEP=full` alone; their code is that of the others, more often.
pub(crate) fn tiles(kernel: GemmKernel, gpu: &Gpu, types: GemmTypes) -> Vec<Tile> {
    let most = support::by_sweep(usize::MAX, 2, 1);
    let product = plain([64; 3], types).pinned(Pin::Kernel(kernel));
    let fits = |tile: &&Tile| tile.fits(&product, gpu.caps()).is_ok();
    kernel.tiles().iter().rev().filter(fits).take(most).copied().collect()
}

/// On, below and above the edges of blocks and steps; more rows of blocks than one group; nothing along k.
pub(crate) fn shapes(tile: &Tile) -> [[usize; 3]; 7] {
    let [m, n, k] = [tile.bm, tile.bn, tile.bk].map(|size| size as usize);
    [
        [2, 2, 1],
        [m, n, k],
        [m + 1, n - 1, 3 * k + 3],
        [m - 7, 2 * n + 8, 2 * k],
        [1, n, 5 * k - 1],
        [9 * m + 1, 17, 7],
        [5, 6, 0],
    ]
}

/// The ways of loading A and B and of storing: each operand's four, and each of A meets another of B; in a longer sweep all pairs.
fn ways() -> Vec<[View; 3]> {
    const OF_B: [usize; 4] = [0, 3, 1, 2];
    let way = |a: usize, b: usize| [LOADS[a], LOADS[b], STORES[(a + b) % 2]];
    let few = || (0..4).map(|a| way(a, OF_B[a])).collect();
    let pairs = || (0..16).map(|i| way(i % 4, i / 4)).collect();
    if support::is_short_sweep() { few() } else { pairs() }
}

/// Checks every tile over its shapes, in the ways of loading and storing in turn.
pub(crate) fn sweep(kernel: GemmKernel, gpu: &Gpu, types: GemmTypes, check: impl Fn(&Gpu, &Case) -> usize) {
    let tiles = tiles(kernel, gpu, types);
    assert!(!tiles.is_empty(), "the rows fill no tile");
    let mut launches = 0;
    for (at, views) in ways().into_iter().enumerate() {
        let tile = tiles[at % tiles.len()];
        for shape in shapes(&tile) {
            let case = Case { tile, shape, views };
            let done = check(gpu, &case);
            assert!(done > 0, "{case:?}");
            launches += done;
        }
    }
    println!("{}: {kernel} of {}, {launches} launches", gpu.caps().adapter, types.ab);
}

#[test]
fn products_of_i8_are_exact() {
    let Some(gpu) = able(CoopScalar::I8, I32) else { return };
    sweep(GemmKernel::CoopKhr, &gpu, I8, check_integers);
}

#[test]
fn products_of_f16_agree_with_the_reference() {
    let Some(gpu) = able(F16, F32) else { return };
    sweep(GemmKernel::CoopKhr, &gpu, GemmTypes::new(DType::F16, DType::F32), |gpu, case| {
        // Each way of loading with one type of C, in turn.
        match LOADS.iter().position(|load| *load == case.views[0]) {
            Some(0 | 3) => check::<f16, f32>(gpu, case),
            _ => check::<f16, f16>(gpu, case),
        }
    });
}

/// Sums of f16 of the products of two matrices, added in f32.
#[test]
fn sums_of_f16_agree_with_the_reference() {
    if able(F16, F16).is_none() {
        return;
    }
    let Some(gpu) = able(F16, F32) else { return };
    let types = GemmTypes { accumulator: Accumulator::F16, ..GemmTypes::new(DType::F16, DType::F32) };
    // How operands are loaded does not matter: each is loaded in one way.
    let tile = tiles(GemmKernel::CoopKhr, &gpu, types)[0];
    for shape in shapes(&tile) {
        let case = Case { tile, shape, views: ways()[0] };
        assert!(check_summed::<f16, f32>(&gpu, &case, Accumulator::F16) > 0, "{case:?}");
    }
    // No f16 is between 2048 and 2050: a sum of f16 is even here, wherever it is rounded.
    let row = |first: f32| {
        let row: Vec<f16> = (0..64).map(|i| f16::from_f32(if i == 0 { first } else { 1.0 })).collect();
        gpu.tensor(&row, [1, 64]).unwrap()
    };
    let (a, b) = (row(2048.0), row(1.0).t());
    let sum = |accumulator| {
        let product = Gemm::new(&a, &b).accumulator(accumulator).out::<f32>();
        product.kernel(GemmKernel::CoopKhr).run().unwrap().to_vec().unwrap()[0]
    };
    assert_eq!(sum(Accumulator::F32), 2048.0 + 63.0);
    let short = sum(Accumulator::F16);
    assert!(short != 2048.0 + 63.0 && (2048.0 + 48.0..=2048.0 + 64.0).contains(&short), "{short}");
}

/// On a device that loads matrices along k, units along the outer axis are transposed on their way into shared memory.
#[test]
fn operands_are_transposed_where_the_device_loads_matrices_along_k() {
    let along_k = |options: &mut GpuOptions| options.assume.matrix_order = Some(MatrixOrder::AlongK);
    // Of both operands along the outer axis: by units, and by elements.
    let ways = [[LOADS[1], LOADS[0], STORES[0]], [LOADS[3], LOADS[2], STORES[1]]];
    // Every lane has puts; and half of the lanes, of those of 8 bits in subgroups of 8.
    let blocks = [[64, 64, 32, 32], [64, 64, 64, 16]];
    let run = |types: GemmTypes, check: &dyn Fn(&Gpu, &Case) -> usize| {
        let gpu = support::own(along_k).unwrap();
        for block in &blocks[..if types.ab == DType::I8 { 2 } else { 1 }] {
            let is_it = |tile: &&Tile| [tile.bm, tile.bn, tile.bk, tile.tm] == *block;
            let tile = *GemmKernel::CoopKhr.tiles().iter().find(is_it).unwrap();
            let product = plain([64; 3], types).pinned(Pin::Tile(tile));
            let kernel = product.plan(gpu.caps()).unwrap().steps()[0].kernel.to_string();
            assert!(kernel.contains("a_TRANSPOSED=0 b_TRANSPOSED=1"), "{kernel}");
            for views in ways {
                for shape in shapes(&tile) {
                    let case = Case { tile, shape, views };
                    assert!(check(&gpu, &case) > 0, "{case:?}");
                }
            }
        }
    };
    if able(F16, F32).is_some() {
        run(GemmTypes::new(DType::F16, DType::F32), &|gpu, case| check::<f16, f32>(gpu, case));
    }
    if able(CoopScalar::I8, I32).is_some() {
        run(I8, &check_integers);
    }
}

#[test]
fn products_of_bf16_agree_with_the_reference() {
    let Some(gpu) = able(Bf16, F32) else { return };
    sweep(GemmKernel::CoopKhr, &gpu, GemmTypes::new(DType::Bf16, DType::F32), |gpu, case| {
        check::<bf16, f32>(gpu, case) + check::<bf16, bf16>(gpu, case)
    });
}

#[test]
fn the_largest_sums_of_i8_are_exact() {
    let Some(gpu) = able(CoopScalar::I8, I32) else { return };
    let k = usize::try_from(MAX_I8_K).unwrap();
    let row = |value: i8| gpu.tensor(&vec![value; 3 * k], [3, k]).unwrap();
    for (a, b) in [(-128, -128), (-128, 127), (127, 127)] {
        let want = i32::try_from(i64::from(a) * i64::from(b) * k as i64).unwrap();
        let c = Gemm::new(&row(a), &row(b).t()).kernel(GemmKernel::CoopKhr).run().unwrap();
        assert_eq!(c.to_vec().unwrap(), [want; 9], "{a} times {b}");
    }
}

/// The bits of a tensor.
pub(crate) fn bits<T: Element>(tensor: Tensor<T>) -> Vec<u8> {
    bytemuck::cast_slice(&tensor.to_vec().unwrap()).to_vec()
}

#[test]
fn batches_broadcast_views_and_splits_have_the_bits_of_other_kernels() {
    let Some(gpu) = able(F16, F32) else { return };
    let a = gpu.random::<f16>([3, 1, 45, 80], Fill::Integers, 1).unwrap();
    let b = gpu.random::<f16>([2, 80, 50], Fill::Integers, 2).unwrap();
    let narrowed = b.slice(2, 1..48).unwrap();
    for b in [&b, &narrowed] {
        let product = |kernel| bits(Gemm::new(&a, b).kernel(kernel).run().unwrap());
        assert!(product(GemmKernel::CoopKhr) == product(GemmKernel::Tiled), "{:?}", b.shape());
    }
    let split = Gemm::new(&a, &b).kernel(GemmKernel::CoopKhr).split_k(tilewise::gemm::SplitK::Splits(2));
    let plan = split.plan().unwrap();
    assert_eq!(plan.steps().len(), 2, "{plan}");
    let whole = Gemm::new(&a, &b).kernel(GemmKernel::Tiled).run().unwrap();
    assert!(bits(split.run().unwrap()) == bits(whole));
}

#[test]
fn repeated_products_give_the_same_bits() {
    let Some(gpu) = able(F16, F32) else { return };
    let a = gpu.random::<f16>([127, 200], Fill::Uniform, 5).unwrap();
    let b = gpu.random::<f16>([200, 65], Fill::Uniform, 6).unwrap();
    let tile = tiles(GemmKernel::CoopKhr, &gpu, GemmTypes::new(DType::F16, DType::F32))[0];
    let product = || bits(Gemm::new(&a, &b).tile(tile).run().unwrap());
    let first = product();
    for _ in 0..5 {
        assert!(first == product());
    }
}

#[test]
fn a_plan_says_its_language() {
    let Some(gpu) = able(CoopScalar::I8, I32) else { return };
    let a = gpu.zeros::<i8>([64, 64]).unwrap();
    let plan = Gemm::new(&a, &a).kernel(GemmKernel::CoopKhr).plan().unwrap();
    assert_eq!(plan.steps()[0].kernel.language(), Language::Spirv);
    assert!(plan.to_string().contains("spirv/gemm_coop_khr.i8"), "{plan}");
    let plan = Gemm::new(&a, &a).kernel(GemmKernel::Dot).plan().unwrap();
    assert_eq!(plan.steps()[0].kernel.language(), Language::Wgsl);
}

/// The refusal of a product of two squares on this device.
pub(crate) fn refusal<T: tilewise::gemm::Operand>(kernel: GemmKernel, gpu: &Gpu) -> String {
    let a = gpu.zeros::<T>([64, 64]).unwrap();
    let Err(Error::Unsupported { needs, .. }) = Gemm::new(&a, &a).kernel(kernel).run() else {
        panic!("it has been computed");
    };
    // The device can be used as before.
    assert!(Gemm::new(&a, &a).run().unwrap().to_vec().is_ok());
    needs
}

#[test]
fn a_device_that_takes_no_modules_or_has_no_row_is_an_error() {
    let (Some(gpu), Some(bare)) = (support::gpu(), support::bare()) else { return };
    assert!(
        refusal::<i8>(GemmKernel::CoopKhr, &bare).contains("modules of SPIR-V"),
        "{}",
        refusal::<i8>(GemmKernel::CoopKhr, &bare)
    );
    let needs = refusal::<f32>(GemmKernel::CoopKhr, &gpu);
    assert!(needs.contains("operands of f16, bf16, i8, e4m3 or e5m2, not f32"), "{needs}");
    if gpu.caps().rows_of(Bf16, F32).next().is_none() {
        let needs = refusal::<bf16>(GemmKernel::CoopKhr, &gpu);
        // A device without modules, or with few immediates, says that.
        let other = [gpu.caps().spirv, gpu.caps().limits.immediate_bytes >= 148].contains(&false);
        assert!(other != needs.contains("bf16 x bf16 -> f32"), "{needs}");
    }
}

/// Kernels for subgroups of another size than the driver's: the row's test finds it.
#[test]
fn a_row_that_is_wrong_is_fenced_off() {
    if able(CoopScalar::I8, I32).is_none() {
        return;
    }
    let assume = |options: &mut GpuOptions| {
        options.assume.subgroups = Some(SubgroupSizes { min: 16, max: 16, matrices: Some(16) });
    };
    let Some(gpu) = support::own(assume) else { return };
    let needs = refusal::<i8>(GemmKernel::CoopKhr, &gpu);
    assert!(needs.contains("fenced off"), "{needs}");
    let rows = &gpu.caps().rows;
    let verdicts: Vec<_> = rows.iter().filter(|row| row.is_used_in_spirv()).map(|row| row.verdict).collect();
    assert!(verdicts.iter().all(|verdict| !matches!(verdict, Verdict::Verified)), "{verdicts:?}");
}
