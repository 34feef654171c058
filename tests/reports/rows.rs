//! Norms, extremes and cumulative sums along rows.

use crate::{assert_near, random, rounding, wide};
use tilewise::ops::{self, LayerNorm};
use tilewise::{Element, Gpu, Real, Tensor, f16};

/// The layer norm of rows.
fn normalized(rows: &[Vec<f64>], gamma: &[f64], beta: &[f64], eps: f64) -> Vec<f64> {
    let of_row = |row: &Vec<f64>| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
        let rstd = 1.0 / (variance + eps).sqrt();
        let scaled = row.iter().zip(gamma.iter().zip(beta)).map(|(x, (g, b))| (x - mean) * rstd * g + b);
        scaled.collect::<Vec<_>>()
    };
    rows.iter().flat_map(of_row).collect()
}

fn read<T: Element>(tensor: &Tensor<T>) -> Vec<f64> {
    wide(&tensor.to_vec().unwrap())
}

/// pytorch/pytorch#131750 (2024), #176238 (2026), microsoft/DirectML#588: a norm of slices or of permuted rows, or one with a
/// strided bias, reads other rows.
#[test]
fn norms_of_views_read_their_own_rows() {
    fn check<T: Real>(gpu: &Gpu) {
        let data = random::<T>(6 * 20 * 4, 1);
        let x = gpu.tensor(&data, [4, 6, 20]).unwrap();
        let weights = random::<T>(64, 2);
        let held = gpu.tensor(&weights, [64]).unwrap();
        let (gamma, beta) =
            (held.as_strided(&[14], &[2], 3).unwrap(), held.as_strided(&[14], &[3], 11).unwrap());
        let norm = LayerNorm::new().gamma(&gamma).beta(&beta);
        let picked = |start: usize, step: usize| -> Vec<f64> {
            (0..14).map(|i| weights[start + step * i].to_f64()).collect()
        };
        let (gamma, beta) = (picked(3, 2), picked(11, 3));
        let row = |at: [usize; 2], from: usize| -> Vec<f64> {
            (from..from + 14).map(|j| data[(at[0] * 6 + at[1]) * 20 + j].to_f64()).collect()
        };
        let indices = |outer: usize, inner: usize| (0..outer * inner).map(move |at| [at / inner, at % inner]);
        let allowed = |want: &[f64]| {
            let want = want.to_vec();
            move |i: usize| 1e-5 + rounding::<T>(want[i]) + rounding::<T>(1.0)
        };

        let sliced = x.slice(2, 3..17).unwrap().slice(1, 1..5).unwrap();
        let rows: Vec<_> = indices(4, 4).map(|[a, b]| row([a, b + 1], 3)).collect();
        let want = normalized(&rows, &gamma, &beta, 1e-5);
        assert_near(&read(&norm.run(&sliced).unwrap()), &want, allowed(&want), "a slice");

        let permuted = x.slice(2, 5..19).unwrap().permute(&[1, 0, 2]).unwrap();
        let rows: Vec<_> = indices(6, 4).map(|[b, a]| row([a, b], 5)).collect();
        let want = normalized(&rows, &gamma, &beta, 1e-5);
        assert_near(&read(&norm.run(&permuted).unwrap()), &want, allowed(&want), "permuted rows");

        // Rows that are columns in memory.
        let columns = x.slice(1, 2..3).unwrap().squeeze(1).unwrap().t();
        let columns = norm.run(&columns.slice(0, 1..15).unwrap().t()).unwrap();
        let rows: Vec<_> = (0..4).map(|a| row([a, 2], 1)).collect();
        let want = normalized(&rows, &gamma, &beta, 1e-5);
        assert_near(&read(&columns), &want, allowed(&want), "columns");
    }
    let turn = support::turn();
    for gpu in turn.iter() {
        support::of_reals!(check, gpu);
    }
}

/// microsoft/onnxruntime#31626 (2026): a layer norm in parts overflows in f16.
#[test]
fn norms_of_large_f16_rows_are_finite() {
    let turn = support::turn();
    for gpu in turn.iter() {
        for len in [8, 100, 3000] {
            let data: Vec<f16> = (0..len)
                .map(|i| <f16 as Element>::from_f64(if i % 2 == 0 { 65_000.0 } else { -64_000.0 + i as f64 }))
                .collect();
            let x = gpu.tensor(&data, [1, len]).unwrap();
            let (ones, zeros) = (vec![1.0; len], vec![0.0; len]);
            let want = normalized(&[wide(&data)], &ones, &zeros, 1e-5);
            let found = read(&LayerNorm::new().run(&x).unwrap());
            assert_near(&found, &want, |i| 2.0 * rounding::<f16>(want[i]), &format!("{len} elements"));
        }
    }
}

/// tensorflow/tensorflow#118647 (2026), tensorflow/tfjs#665, Oneflow-Inc/oneflow#7606: the index is wrong with a NaN at sizes
/// that are no power of two, or if the NaN is in the middle.
#[test]
fn the_first_nan_is_found_at_every_size() {
    let turn = support::turn();
    for gpu in turn.iter() {
        let nan = f32::NAN;
        for len in 1..200 {
            let plain: Vec<f32> = random(len, len as u64);
            let with = |at: usize, value: f32| {
                let mut row = plain.clone();
                row[at] = value;
                row
            };
            let mut both = with(len / 3, nan);
            both[len - 1] = nan;
            let rows = [
                plain.clone(),
                with(0, nan),
                with(len / 2, nan),
                with(len - 1, nan),
                both,
                vec![nan; len],
                vec![f32::NEG_INFINITY; len],
                vec![f32::INFINITY; len],
                (0..len).map(|i| if i % 2 == 0 { -0.0 } else { 0.0 }).collect(),
            ];
            let x = gpu.tensor(&rows.concat(), [rows.len(), len]).unwrap();
            // The first NaN, else the first of the largest.
            let first = |row: &Vec<f32>, is_better: fn(f32, f32) -> bool| {
                let nan = row.iter().position(|x| x.is_nan());
                let best = (1..len).fold(0, |best, at| if is_better(row[at], row[best]) { at } else { best });
                i32::try_from(nan.unwrap_or(best)).unwrap()
            };
            let want = |is_better: fn(f32, f32) -> bool| -> Vec<i32> {
                rows.iter().map(|row| first(row, is_better)).collect()
            };
            assert_eq!(ops::argmax(&x, 1).unwrap().to_vec().unwrap(), want(|a, b| a > b), "argmax of {len}");
            assert_eq!(ops::argmin(&x, 1).unwrap().to_vec().unwrap(), want(|a, b| a < b), "argmin of {len}");
        }
        let ends = gpu.tensor(&[5, i32::MIN, i32::MAX, i32::MIN, i32::MAX, 0], [6]).unwrap();
        assert_eq!(ops::argmax(&ends, 0).unwrap().to_vec().unwrap(), [2]);
        assert_eq!(ops::argmin(&ends, 0).unwrap().to_vec().unwrap(), [1]);
        let ends = gpu.tensor(&[0i8, 127, -128, 127, -128], [5]).unwrap();
        assert_eq!(ops::argmax(&ends, 0).unwrap().to_vec().unwrap(), [1]);
        assert_eq!(ops::argmin(&ends, 0).unwrap().to_vec().unwrap(), [2]);
    }
}

/// pytorch/pytorch#180153, #180150 (2026), tenstorrent/tt-metal#55542 (2026), numpy/numpy#24443: cumulative sums drift, or stay
/// where one more is lost.
#[test]
fn cumulative_sums_neither_drift_nor_saturate() {
    let Some(gpu) = support::gpu() else { return };
    let lens: &[usize] =
        if support::is_full_sweep() { &[16_384, 1_000_003, 5_000_000] } else { &[16_384, 100_003] };
    for &len in lens {
        // Ones are counted exactly: nothing is rounded up to 2^24.
        let found =
            ops::cumsum(&gpu.tensor(&vec![1.0f32; len], [len]).unwrap(), 0).unwrap().to_vec().unwrap();
        assert!(found.iter().zip(1..).all(|(x, count)| *x == f32::from_f64(f64::from(count))), "{len} ones");
        let tenths = ops::cumsum(&gpu.tensor(&vec![0.1f32; len], [len]).unwrap(), 0).unwrap();
        let want: Vec<f64> = (1..=len).map(|count| f64::from(0.1f32) * count as f64).collect();
        assert_near(&read(&tenths), &want, |i| 1e-5 * want[i], &format!("{len} tenths"));
    }
    let halves = gpu.tensor(&[f16::ONE; 16_384], [16_384]).unwrap();
    let want: Vec<f64> =
        (1..=16_384).map(|count| <f16 as Element>::from_f64(count.into()).to_f64()).collect();
    assert_eq!(read(&ops::cumsum(&halves, 0).unwrap()), want, "no sum stays at 2,048");
}
