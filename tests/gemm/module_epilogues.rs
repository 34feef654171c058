//! The epilogues of modules of SPIR-V: in matrices, where whole blocks are stored, and element by element at edges.

use crate::coop_khr::{bits, tiles};
use support::TestGpu;
use support::wgsl::I8;
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::gpu::{CoopScalar, CoopScope};
use tilewise::planning::gemm::GemmTypes;
use tilewise::{Activation, DType, Element, Fill, Gemm, Gpu, Real, Tensor, bf16, f16};

const F16: GemmTypes = GemmTypes::new(DType::F16, DType::F32);

/// The smallest tile of each of the two kernels that this device runs; says so where there is none.
fn modules(gpu: &TestGpu, types: GemmTypes) -> Vec<Tile> {
    let [ab, c] = match types.ab {
        DType::I8 => [CoopScalar::I8, CoopScalar::I32],
        _ => [CoopScalar::F16, CoopScalar::F32],
    };
    let caps = gpu.caps();
    let is_khr = caps.spirv && caps.rows_of(ab, c).any(|row| row.is_used_in_spirv());
    let is_nv2 = caps.spirv && caps.flexible_rows_of(ab, c, CoopScope::Subgroup).next().is_some();
    let kernels = [(GemmKernel::CoopKhr, is_khr), (GemmKernel::CoopNv2, is_nv2)];
    let able = kernels.into_iter().filter(|(_, is_able)| *is_able);
    let tiles: Vec<Tile> = able.map(|(kernel, _)| tiles(kernel, gpu, types)[0]).collect();
    if tiles.is_empty() {
        println!("unable: {} has no matrices of {ab} with sums of {c} for modules of SPIR-V", caps.adapter);
    }
    tiles
}

/// Blocks of the smallest tiles, 32 x 32 at least, are whole; none is whole; a part is, and rows of C start anywhere.
const SHAPES: [[usize; 3]; 3] = [[64, 64, 32], [7, 30, 5], [70, 101, 40]];

/// What an epilogue has.
#[derive(Clone, Copy, Debug)]
struct Form {
    beta: f32,
    bias: Option<DType>,
    is_of_rows: bool,
    /// It has the type of the result.
    has_residual: bool,
    activation: Activation,
}

/// All operands are integers, and all factors powers of two: the results are exact, whatever is contracted.
const PLAIN: Form =
    Form { beta: 0.0, bias: None, is_of_rows: false, has_residual: false, activation: Activation::None };
const FORMS: [Form; 8] = [
    PLAIN,
    Form { activation: Activation::Relu, ..PLAIN },
    Form { bias: Some(DType::F32), ..PLAIN },
    Form { bias: Some(DType::F16), is_of_rows: true, activation: Activation::Relu, ..PLAIN },
    Form { bias: Some(DType::Bf16), activation: Activation::Relu, ..PLAIN },
    Form { beta: -2.0, bias: Some(DType::F32), is_of_rows: true, ..PLAIN },
    Form { has_residual: true, activation: Activation::Relu, ..PLAIN },
    Form { beta: 0.5, bias: Some(DType::F16), has_residual: true, activation: Activation::Relu, ..PLAIN },
];

/// A bias in every type.
struct Biases {
    f32: Tensor<f32>,
    f16: Tensor<f16>,
    bf16: Tensor<bf16>,
}

impl Biases {
    fn new(gpu: &Gpu, shape: &[usize], seed: u64) -> Self {
        fn one<T: Element>(gpu: &Gpu, shape: &[usize], seed: u64) -> Tensor<T> {
            gpu.random::<T>(shape, Fill::Integers, seed).unwrap()
        }
        Self { f32: one(gpu, shape, seed), f16: one(gpu, shape, seed), bf16: one(gpu, shape, seed) }
    }
}

fn with_bias<'a, C: Real>(gemm: Gemm<'a, f16, C>, bias: &'a Biases, form: Form) -> Gemm<'a, f16, C> {
    match (form.bias, form.is_of_rows) {
        (None, _) => gemm,
        (Some(DType::F16), true) => gemm.row_bias(&bias.f16),
        (Some(DType::F16), false) => gemm.bias(&bias.f16),
        (Some(DType::Bf16), true) => gemm.row_bias(&bias.bf16),
        (Some(DType::Bf16), false) => gemm.bias(&bias.bf16),
        (Some(_), true) => gemm.row_bias(&bias.f32),
        (Some(_), false) => gemm.bias(&bias.f32),
    }
}

/// Compares the product with results of this type with that of a kernel in WGSL, and counts the launches.
fn check<C: Real>(gpu: &Gpu, tile: Tile, [m, n, k]: [usize; 3], form: Form) {
    let a = gpu.random::<f16>([2, 1, m, k], Fill::Integers, 1).unwrap();
    let b = gpu.random::<f16>([2, k, n], Fill::Integers, 2).unwrap();
    let bias = Biases::new(gpu, &[if form.is_of_rows { m } else { n }], 3);
    let residual = gpu.random::<C>([2, 2, m, n], Fill::Integers, 4).unwrap();
    let run = |pin: &dyn Fn(Gemm<'_, f16, C>) -> Tensor<C>| {
        let gemm = Gemm::new(&a, &b).out::<C>().alpha(0.5).beta(form.beta).activation(form.activation);
        let gemm = with_bias(gemm, &bias, form);
        bits(pin(if form.has_residual { gemm.residual(&residual) } else { gemm }))
    };
    let into = |gemm: Gemm<'_, f16, C>| {
        let mut c = gpu.random::<C>([2, 2, m, n], Fill::Integers, 5).unwrap();
        gemm.run_into(&mut c).unwrap();
        c
    };
    // Four elements at once are stored where rows consist of words.
    let is_one_launch = C::DTYPE != DType::Bf16 || (tile.kernel == GemmKernel::CoopKhr && n % 4 == 0);
    let found = run(&|gemm| {
        let gemm = gemm.tile(tile);
        let plan = gemm.plan().unwrap();
        assert_eq!(plan.steps().len(), if is_one_launch { 1 } else { 2 }, "{plan}");
        into(gemm)
    });
    let want = run(&|gemm| into(gemm.kernel(GemmKernel::Tiled)));
    assert!(found == want, "{tile} of {m} {n} {k} into {}: {form:?}", C::DTYPE);
}

#[test]
fn every_form_has_the_bits_of_other_kernels() {
    let Some(gpu) = support::gpu() else { return };
    for tile in modules(&gpu, F16) {
        for (i, shape) in SHAPES.into_iter().enumerate() {
            for (j, form) in FORMS.into_iter().enumerate() {
                // Each form has another type of results for each shape; all three in the full sweep.
                let turn = (!support::is_full_sweep()).then_some((i + j) % 3);
                if turn.is_none_or(|turn| turn == 0) {
                    check::<f32>(&gpu, tile, shape, form);
                }
                if turn.is_none_or(|turn| turn == 1) {
                    check::<f16>(&gpu, tile, shape, form);
                }
                if turn.is_none_or(|turn| turn == 2) {
                    check::<bf16>(&gpu, tile, shape, form);
                }
            }
        }
    }
}

#[test]
fn results_of_i8_have_the_bits_of_other_kernels() {
    let Some(gpu) = support::gpu() else { return };
    let run = |tile: Tile, [m, n, k]: [usize; 3]| {
        let a = gpu.random::<i8>([m, k], Fill::Uniform, 1).unwrap();
        let b = gpu.random::<i8>([k, n], Fill::Uniform, 2).unwrap();
        let powers = |n: usize| (3..10).cycle().take(n).map(|i| 0.5f32.powi(i)).collect::<Vec<f32>>();
        let [rows, columns] = [m, n].map(|n| gpu.tensor(&powers(n), [n]).unwrap());
        let bias = gpu.random::<f32>([n], Fill::Integers, 3).unwrap();
        let scaled = || Gemm::new(&a, &b).row_scale(&rows).column_scale(&columns).bias(&bias);
        let is_khr = tile.kernel == GemmKernel::CoopKhr;
        let compare = |found: Vec<u8>, want: Vec<u8>, what: &str| {
            assert!(found == want, "{tile} of {m} {n} {k}: {what}");
        };
        let relu = || scaled().activation(Activation::Relu);
        assert_eq!(relu().out::<f32>().tile(tile).plan().unwrap().steps().len(), 1);
        let dot = GemmKernel::Dot;
        let f32s = |gemm: Gemm<'_, i8, f32>| bits(gemm.run().unwrap());
        compare(f32s(relu().out().tile(tile)), f32s(relu().out().kernel(dot)), "f32");
        let f16s = |gemm: Gemm<'_, i8, f16>| bits(gemm.run().unwrap());
        compare(f16s(relu().out().tile(tile)), f16s(relu().out().kernel(dot)), "f16");
        let i8s = |gemm: Gemm<'_, i8, i8>| bits(gemm.out_scale(0.37).run().unwrap());
        compare(i8s(relu().out().tile(tile)), i8s(relu().out().kernel(dot)), "i8");
        let i8s = relu().out::<i8>().out_scale(0.37).tile(tile);
        let steps = i8s.plan().unwrap().steps().len();
        assert_eq!(steps, if is_khr && n % 4 == 0 { 1 } else { 2 });
    };
    for tile in modules(&gpu, I8) {
        for shape in SHAPES {
            run(tile, shape);
        }
    }
}

/// Products of one term: exact numbers from the smallest to beyond the largest f16, with infinities and NaN.
fn range(gpu: &Gpu, count: usize) -> [Tensor<f16>; 2] {
    let from_bits = |i: usize| f16::from_bits(u16::try_from(i * 0xffff / (count - 1)).unwrap());
    let a: Vec<f16> = (0..count).map(from_bits).collect();
    let b: Vec<f16> =
        (0..count).map(|i| f16::from_f32([1.0, -1.0, 0.01, 3.7, 6e-8, 60000.0][i % 6])).collect();
    [gpu.tensor(&a, [count, 1]).unwrap(), gpu.tensor(&b, [1, count]).unwrap()]
}

/// The distance of two numbers in units of the last place.
fn ulps(x: f32, y: f32) -> u32 {
    let ordered = |x: f32| {
        let bits = x.to_bits().cast_signed();
        if bits < 0 { i32::MIN - bits } else { bits }
    };
    ordered(x).abs_diff(ordered(y))
}

#[test]
fn activations_agree_with_other_kernels_over_the_whole_range() {
    let Some(gpu) = support::gpu() else { return };
    // Whole blocks, and rows at an edge.
    for (at, count) in [256, 250].into_iter().enumerate() {
        let [a, b] = range(&gpu, count);
        for (tile, by) in modules(&gpu, F16).into_iter().zip(0..) {
            for (activation, turn) in Activation::ALL.into_iter().zip(by..) {
                if !support::is_full_sweep() && turn % 2 != at {
                    continue;
                }
                let run = |pin: &dyn Fn(Gemm<'_, f16, f32>) -> Tensor<f32>| {
                    pin(Gemm::new(&a, &b).out::<f32>().alpha(0.25).activation(activation)).to_vec().unwrap()
                };
                let found = run(&|gemm| gemm.tile(tile).run().unwrap());
                let want = run(&|gemm| gemm.kernel(GemmKernel::Tiled).run().unwrap());
                for (at, (found, want)) in found.iter().zip(&want).enumerate() {
                    // Each is within 8 ulp, and subnormal results may be zero.
                    let is_near = (found.is_nan() && want.is_nan())
                        || ulps(*found, *want) <= 16
                        || (found.abs() <= f32::MIN_POSITIVE && want.abs() <= f32::MIN_POSITIVE);
                    assert!(is_near, "{tile}, {activation:?}, element {at}: {found} and {want}");
                }
            }
        }
    }
}
