//! Products of matrices.

use crate::{assert_near, gamma, product, random, rounding, wide};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::{Element, Gemm, Gpu, Precision, Real, Tensor, bf16, f16, matmul};

fn transposed(values: &[f64], [rows, columns]: [usize; 2]) -> Vec<f64> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| values[i * columns + j])).collect()
}

fn read<T: Element>(tensor: &Tensor<T>) -> Vec<f64> {
    wide(&tensor.to_vec().unwrap())
}

/// tracel-ai/burn#4966 (2026): almost 0 from about 500 rows on.
#[test]
fn products_of_many_rows_are_not_almost_zero() {
    fn check<T: Real>(gpu: &Gpu) {
        let (k, n) = (1024, 12);
        let b = random::<T>(n * k, 2);
        let placed = gpu.tensor(&b, [n, k]).unwrap();
        let b = transposed(&wide(&b), [n, k]);
        for m in [480, 500, 513, 1000] {
            let a = random::<T>(m * k, m as u64);
            let found = matmul(&gpu.tensor(&a, [m, k]).unwrap(), &placed.t()).unwrap();
            let (want, magnitudes) = product(&wide(&a), &b, [m, n, k]);
            assert_near(
                &read(&found),
                &want,
                |i| gamma(k) * magnitudes[i],
                &format!("{m} rows, {}", T::DTYPE),
            );
        }
    }
    let turn = support::turn();
    for gpu in turn.iter() {
        support::of_reals!(check, gpu);
    }
}

/// tracel-ai/burn#4907 (2026): every head is zero unless autotune is on.
#[test]
fn a_batch_of_heads_is_not_zero() {
    let Some(gpu) = support::gpu() else { return };
    let (heads, m, k, n) = (8, 512, 512, 32);
    let sines = |len: usize, step: f64| -> Vec<f32> {
        (0..len).map(|i| f32::from_f64((i as f64 * step).sin())).collect()
    };
    let (a, b) = (sines(heads * m * k, 0.01), sines(heads * k * n, 0.02));
    let [x, y] = [(&a, m), (&b, n)].map(|(data, last)| {
        let shape = if last == n { [1, heads, k, n] } else { [1, heads, m, k] };
        gpu.tensor(data, shape).unwrap()
    });
    let found = read(&matmul(&x, &y).unwrap());
    let (a, b) = (wide(&a), wide(&b));
    let step = if support::is_full_sweep() { 1 } else { 37 };
    for head in 0..heads {
        let b = &b[head * k * n..][..k * n];
        for row in (0..m).step_by(step) {
            let at = head * m + row;
            let (want, magnitudes) = product(&a[at * k..][..k], b, [1, n, k]);
            let what = format!("head {head}, row {row}");
            assert_near(&found[at * n..][..n], &want, |i| gamma(k) * magnitudes[i], &what);
        }
    }
}

/// huggingface/candle#2737 (2025), #680 (2023): a product after a reshape and two transposes fails, as does one of broadcast
/// zeros.
#[test]
fn reshaped_transposed_and_broadcast_operands_are_multiplied() {
    let turn = support::turn();
    for gpu in turn.iter() {
        let data = random::<f32>(2 * 12 * 5, 1);
        let x = gpu.tensor(&data, [2, 12, 5]).unwrap();
        // (2, 12, 5) as (2, 3, 4, 5), then (2, 4, 3, 5), then (2, 4, 5, 3).
        let a = x.reshape([2, 3, 4, 5]).unwrap().permute(&[0, 2, 1, 3]).unwrap();
        let b = a.permute(&[0, 1, 3, 2]).unwrap();
        let found = read(&matmul(&a, &b).unwrap());
        let element =
            |batch: usize, at: usize, i: usize, p: usize| data[((batch * 3 + i) * 4 + at) * 5 + p].to_f64();
        let index = (0..2 * 4 * 9).map(|at| [at / 36, at / 9 % 4, at / 3 % 3, at % 3]);
        let want: Vec<f64> = index
            .map(|[batch, at, i, j]| {
                (0..5).map(|p| element(batch, at, i, p) * element(batch, at, j, p)).sum()
            })
            .collect();
        assert_near(&found, &want, |_| gamma(5) * 5.0, "two transposes");

        let zeros = gpu.zeros::<f32>([1]).unwrap().broadcast_to([4, 12, 7]).unwrap();
        let ones = gpu.tensor(&[1.0f32], [1, 1, 1]).unwrap().broadcast_to([4, 7, 3]).unwrap();
        let found = matmul(&zeros, &ones).unwrap();
        assert_eq!((found.shape(), read(&found)), (&[4, 12, 3][..], vec![0.0; 144]));
        let row = gpu.tensor(&random::<f32>(5, 2), [1, 5]).unwrap().broadcast_to([6, 5]).unwrap();
        let found = read(&matmul(&row, &row.t()).unwrap());
        let square: f64 = random::<f32>(5, 2).iter().map(|x| x.to_f64().powi(2)).sum();
        assert_near(&found, &[square; 36], |_| gamma(5) * 5.0, "one row, six times");
    }
}

/// ggml-org/llama.cpp#19965, #19535 (2026): batches beyond 65,535 fail, or write beyond their memory.
#[test]
fn batches_beyond_65_535_are_whole() {
    let Some(gpu) = support::gpu() else { return };
    let [m, n, k] = [2, 3, 2];
    for batch in if support::is_full_sweep() { [66_000, 140_000] } else { [65_535, 66_000] } {
        let (a, b) = (random::<f32>(batch * m * k, 1), random::<f32>(batch * k * n, 2));
        let [x, y] =
            [(&a, [batch, m, k]), (&b, [batch, k, n])].map(|(data, shape)| gpu.tensor(data, shape).unwrap());
        let found = read(&matmul(&x, &y).unwrap());
        for at in 0..batch {
            let (a, b) = (wide(&a[at * m * k..][..m * k]), wide(&b[at * k * n..][..k * n]));
            let (want, _) = product(&a, &b, [m, n, k]);
            assert_near(&found[at * m * n..][..m * n], &want, |_| gamma(k) * 2.0, &format!("product {at}"));
        }
    }
}

/// ROCm/tritonBLAS#67 (2026), triton-lang/triton#1482, NVIDIA/cutlass#818: split-k forgets the bias, or adds it in each split.
#[test]
fn splits_add_the_bias_once() {
    let Some(gpu) = support::gpu() else { return };
    let [m, n, k] = [3, 5, 20_000];
    let (a, b) = (random::<f32>(m * k, 1), random::<f32>(k * n, 2));
    let (bias, residual) = (random::<f32>(n, 3), random::<f32>(m * n, 4));
    let (mut want, magnitudes) = product(&wide(&a), &wide(&b), [m, n, k]);
    for (at, want) in want.iter_mut().enumerate() {
        *want = 0.5 * *want + bias[at % n].to_f64() + residual[at].to_f64();
    }
    let [a, b] = [(&a, [m, k]), (&b, [k, n])].map(|(data, shape)| gpu.tensor(data, shape).unwrap());
    let (bias, residual) = (gpu.tensor(&bias, [n]).unwrap(), gpu.tensor(&residual, [m, n]).unwrap());
    for splits in [1, 2, 7, 64] {
        let gemm = Gemm::new(&a, &b).alpha(0.5).bias(&bias).residual(&residual);
        let gemm = gemm.kernel(GemmKernel::Tiled).split_k(SplitK::Splits(splits));
        let found = read(&gemm.run().unwrap());
        assert_near(&found, &want, |i| gamma(k) * (magnitudes[i] + 2.0), &format!("{splits} splits"));
    }
}

/// ggml-org/llama.cpp#18969, #13607, #27016 (2025, 2026): activations beyond 65,504 overflow f16.
#[test]
fn large_and_tiny_operands_do_not_overflow_f16() {
    let Some(gpu) = support::gpu() else { return };
    let [m, n, k] = [5, 7, 100];
    let (a, b) = (random::<f32>(m * k, 1), random::<f32>(k * n, 2));
    let y = gpu.tensor(&b, [k, n]).unwrap();
    for scale in [1e-10f32, 1e-5, 1.0, 7e4, 1e10, 1e20, 1e30] {
        let a: Vec<f32> = a.iter().map(|x| x * scale).collect();
        let x = gpu.tensor(&a, [m, k]).unwrap();
        let (want, magnitudes) = product(&wide(&a), &wide(&b), [m, n, k]);
        for (precision, unit) in [
            (Precision::Strict, gamma(k)),
            (Precision::Split, gamma(k) + 2f64.powi(-19)),
            (Precision::Fast, gamma(k) + 2f64.powi(-9)),
        ] {
            let found = read(&Gemm::new(&x, &y).precision(precision).run().unwrap());
            // Rows are rounded relative to their largest entry.
            let largest = f64::from(scale) * k as f64;
            let allowed = |i: usize| unit * magnitudes[i] + 2f64.powi(-22) * unit.sqrt() * largest;
            assert_near(&found, &want, allowed, &format!("{precision:?} at {scale:e}"));
        }
    }
    // 100 products of 160 and 160: 2.56e6, which f16 does not hold.
    let x = gpu.tensor(&[f16::from_f32(160.0); 300], [3, 100]).unwrap();
    assert_eq!(read(&Gemm::new(&x, &x.t()).run().unwrap()), [2.56e6; 9]);
    let stored = <bf16 as Element>::from_f64(2.56e6).to_f64();
    assert_eq!(read(&Gemm::new(&x, &x.t()).out::<bf16>().run().unwrap()), [stored; 9]);
    assert_eq!(read(&Gemm::new(&x, &x.t()).out::<f16>().run().unwrap()), [f64::INFINITY; 9]);
    let smaller = read(&Gemm::new(&x, &x.t()).alpha(1.0 / 64.0).out::<f16>().run().unwrap());
    assert_near(&smaller, &[4e4; 9], |_| rounding::<f16>(4e4), "scaled into f16");
}

/// ROCm/triton#958 (2026): dot products of i8 are wrong unless k is a multiple of 4.
#[test]
fn integers_are_exact_whatever_k_is() {
    let turn = support::turn();
    for gpu in turn.iter() {
        let [m, n] = [3, 5];
        for k in [1, 3, 5, 127, 4608, 4609] {
            let a: Vec<i8> = (0..m * k).map(|i| if i % 3 == 0 { 127 } else { -128 }).collect();
            let b: Vec<i8> = (0..k * n).map(|i| if i % 7 < 4 { -128 } else { 127 }).collect();
            let (want, _) = product(&wide(&a), &wide(&b), [m, n, k]);
            let [x, y] = [(&a, [m, k]), (&b, [k, n])].map(|(data, shape)| gpu.tensor(data, shape).unwrap());
            assert_eq!(read(&matmul(&x, &y).unwrap()), want, "k {k}");
            let turned = gpu.tensor(&b, [n, k]).unwrap();
            let b = transposed(&wide(&b), [n, k]);
            assert_eq!(
                read(&matmul(&x, &turned.t()).unwrap()),
                product(&wide(&a), &b, [m, n, k]).0,
                "k {k}, B transposed"
            );
        }
    }
    let Some(gpu) = support::gpu() else { return };
    let lowest = gpu.tensor(&[-128i8; 4609], [1, 4609]).unwrap();
    assert_eq!(matmul(&lowest, &lowest.t()).unwrap().to_vec().unwrap(), [16_384 * 4609]);
}
