//! The kernel on cooperative matrices of flexible size: every type that the device has rows of, in every way of loading and storing. Its
//! sums are those of `coop_khr` by bits, in the same order.

use crate::coop_khr::{LOADS, bits, refusal, sweep, tiles};
use support::TestGpu;
use support::product::{check, check_integers};
use support::wgsl::I8;
use tilewise::gemm::{GemmKernel, Operand, SplitK, Tile};
use tilewise::gpu::CoopScalar::{self, Bf16, F16, F32, I8 as Byte, I32};
use tilewise::gpu::CoopScope;
use tilewise::planning::gemm::GemmTypes;
use tilewise::{DType, Fill, Gemm, Tensor, bf16, f16};

/// The device, if it has matrices of flexible size of these types, held by a subgroup; says so where not.
fn able(ab: CoopScalar, c: CoopScalar) -> Option<TestGpu> {
    let gpu = support::gpu()?;
    let caps = gpu.caps();
    let is_able = caps.spirv && caps.flexible_rows_of(ab, c, CoopScope::Subgroup).next().is_some();
    if !is_able {
        println!("unable: {} has no flexible matrices of {ab} with sums of {c}", caps.adapter);
    }
    is_able.then_some(gpu)
}

const MIXED: GemmTypes = GemmTypes::new(DType::F16, DType::F32);

#[test]
fn products_of_i8_are_exact() {
    let Some(gpu) = able(Byte, I32) else { return };
    sweep(GemmKernel::CoopNv2, &gpu, I8, check_integers);
}

#[test]
fn products_of_f16_agree_with_the_reference() {
    let Some(gpu) = able(F16, F32) else { return };
    sweep(GemmKernel::CoopNv2, &gpu, MIXED, |gpu, case| {
        // Each way of loading with one type of C, in turn.
        match LOADS.iter().position(|load| *load == case.views[0]) {
            Some(0 | 3) => check::<f16, f32>(gpu, case),
            _ => check::<f16, f16>(gpu, case),
        }
    });
}

#[test]
fn products_of_bf16_agree_with_the_reference() {
    let Some(gpu) = able(Bf16, F32) else { return };
    sweep(GemmKernel::CoopNv2, &gpu, GemmTypes::new(DType::Bf16, DType::F32), |gpu, case| {
        check::<bf16, f32>(gpu, case) + check::<bf16, bf16>(gpu, case)
    });
}

/// The same block of `coop_khr`, which a test compares with.
fn twin(tile: Tile) -> Tile {
    let twin = Tile { kernel: GemmKernel::CoopKhr, ..tile };
    assert!(GemmKernel::CoopKhr.tiles().contains(&twin), "{tile}");
    twin
}

/// A matrix of numbers that no sum holds exactly, with an infinity, a NaN and zeros of both signs in it.
fn special(gpu: &TestGpu, shape: [usize; 2], seed: u64) -> Tensor<f16> {
    let mut values = Fill::Uniform.values::<f16>(shape[0] * shape[1], seed);
    let at = shape[1] + 3;
    values[at] = f16::INFINITY;
    values[2 * at] = f16::NAN;
    values[3 * at] = f16::NEG_ZERO;
    values[4 * at] = f16::ZERO;
    gpu.tensor(&values, shape).unwrap()
}

#[test]
fn sums_have_the_bits_of_coop_khr() {
    let Some(gpu) = able(F16, F32) else { return };
    let tile = tiles(GemmKernel::CoopNv2, &gpu, MIXED)[0];
    for [m, n, k] in [[1, 1, 1], [37, 41, 97], [64, 64, 64], [1, 67, 101], [71, 1, 33]] {
        let a = gpu.random::<f16>([2, 1, m, k], Fill::Uniform, 1).unwrap();
        let b = gpu.random::<f16>([3, n, k], Fill::Uniform, 2).unwrap().t();
        for splits in [1, 2] {
            let product = |tile| {
                let product = Gemm::new(&a, &b).tile(tile).split_k(SplitK::Splits(splits));
                bits(product.out::<f32>().run().unwrap())
            };
            assert!(product(tile) == product(twin(tile)), "{m} {n} {k} in {splits}");
        }
        let rounded = |tile| bits(Gemm::new(&a, &b).tile(tile).run().unwrap());
        assert!(rounded(tile) == rounded(twin(tile)), "{m} {n} {k}, rounded");
    }
    let (a, b) = (special(&gpu, [40, 45], 1), special(&gpu, [45, 39], 2));
    let product = |tile| Gemm::new(&a, &b).out::<f32>().tile(tile).run().unwrap().to_vec().unwrap();
    let [found, want] = [tile, twin(tile)].map(product);
    let is_same = |(x, y): (&f32, &f32)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    assert!(found.iter().zip(&want).all(is_same), "special values");
    assert!(found.iter().any(|x| x.is_nan()) && found.iter().any(|x| x.is_infinite()));
}

#[test]
fn repeated_products_give_the_same_bits() {
    let Some(gpu) = able(F16, F32) else { return };
    let a = gpu.random::<f16>([127, 200], Fill::Uniform, 5).unwrap();
    let b = gpu.random::<f16>([200, 65], Fill::Uniform, 6).unwrap();
    let tile = tiles(GemmKernel::CoopNv2, &gpu, MIXED)[0];
    let product = || bits(Gemm::new(&a, &b).tile(tile).run().unwrap());
    let first = product();
    for _ in 0..5 {
        assert!(first == product());
    }
}

/// The refusal of this kernel.
fn refused<T: Operand>(gpu: &TestGpu) -> String {
    refusal::<T>(GemmKernel::CoopNv2, gpu)
}

#[test]
fn a_device_that_takes_no_modules_or_has_no_row_is_an_error() {
    let (Some(gpu), Some(bare)) = (support::gpu(), support::bare()) else { return };
    assert!(refused::<i8>(&bare).contains("modules of SPIR-V"), "{}", refused::<i8>(&bare));
    let needs = refused::<f32>(&gpu);
    assert!(needs.contains("operands of f16, bf16 or i8, not f32"), "{needs}");
    let caps = gpu.caps();
    if caps.spirv && caps.limits.immediate_bytes >= 148 && !caps.extensions.bfloat16 {
        let needs = refused::<bf16>(&gpu);
        assert!(needs.contains("flexible size bf16 x bf16 -> f32 (subgroup)"), "{needs}");
    }
}
