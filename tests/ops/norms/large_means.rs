//! Norms of elements whose mean is large compared with the deviation: as exact as variances are.

use support::values::values;
use tilewise::ops::{BatchNorm, GroupNorm, LayerNorm, RunningStatistics};
use tilewise::{Fill, Gpu, Tensor};

const MEANS: [f32; 5] = [10.0, 1e3, 1e5, 1e6, -1e6];

/// The relative error of a variance, and that of one which is taken from one over the deviation, which is rounded.
const VARIANCE: f64 = 3e-7;
const OF_RSTD: f64 = VARIANCE + 1e-7;

/// Elements about a mean, with a deviation of 0.1 or of some units in the last place.
fn about(shape: &[usize], mean: f32) -> Vec<f32> {
    values::<f32>(shape, 0.2, 1).into_iter().map(|x| x + mean).collect()
}

/// The mean and the variance of elements.
fn moments(of: impl Iterator<Item = f32> + Clone) -> [f64; 2] {
    let n = of.clone().count() as f64;
    let mean = of.clone().map(f64::from).sum::<f64>() / n;
    [mean, of.map(|x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n]
}

/// The largest relative error of variances, and the largest error of the normalised elements.
fn errors(units: &[Vec<f32>], variances: &[f64], y: &[Vec<f32>], eps: f64) -> [f64; 2] {
    let mut worst = [0.0f64; 2];
    for ((unit, found), y) in units.iter().zip(variances).zip(y) {
        let [mean, variance] = moments(unit.iter().copied());
        worst[0] = worst[0].max((found / variance - 1.0).abs());
        for (x, y) in unit.iter().zip(y) {
            let want = (f64::from(*x) - mean) / (variance + eps).sqrt();
            worst[1] = worst[1].max((f64::from(*y) - want).abs());
        }
    }
    worst
}

/// Variances from what a norm with epsilon 0 returns.
fn variances(rstd: &Tensor<f32>) -> Vec<f64> {
    wide(rstd).into_iter().map(|rstd| rstd.powi(-2)).collect()
}

fn wide(of: &Tensor<f32>) -> Vec<f64> {
    of.to_vec().unwrap().into_iter().map(f64::from).collect()
}

fn rows_of(x: &[f32], length: usize) -> Vec<Vec<f32>> {
    x.chunks(length).map(<[f32]>::to_vec).collect()
}

fn columns_of(x: &[f32], channels: usize) -> Vec<Vec<f32>> {
    (0..channels).map(|c| x.iter().skip(c).step_by(channels).copied().collect()).collect()
}

fn each(test: fn(&Gpu)) {
    for gpu in support::turn().iter() {
        test(gpu);
    }
}

#[test]
fn layer_norms_of_short_and_long_rows_hold_what_variances_hold() {
    each(|gpu| {
        for (length, mean) in [64, 1000, 9000, 300_000].into_iter().flat_map(|n| MEANS.map(|mean| (n, mean)))
        {
            let x = about(&[3, length], mean);
            let norm = LayerNorm::new().eps(0.0);
            let normed = norm.with_statistics(&gpu.tensor(&x, [3, length]).unwrap()).unwrap();
            let y = rows_of(&normed.y.to_vec().unwrap(), length);
            let [variance, y] = errors(&rows_of(&x, length), &variances(&normed.rstd), &y, 0.0);
            assert!(variance < OF_RSTD && y < 6e-6, "{length} about {mean}: {variance:e}, {y:e}");
        }
    });
}

#[test]
fn batch_norms_of_one_launch_and_of_three_hold_what_variances_hold() {
    each(|gpu| {
        for ([rows, channels], mean) in
            [[64, 200], [9000, 4], [40_000, 3]].into_iter().flat_map(|of| MEANS.map(|mean| (of, mean)))
        {
            let x = about(&[rows, channels], mean);
            let a = gpu.tensor(&x, [rows, channels]).unwrap();
            let running = RunningStatistics {
                mean: gpu.zeros([channels]).unwrap(),
                variance: gpu.zeros([channels]).unwrap(),
            };
            let norm = BatchNorm::new().momentum(1.0);
            let normed = norm.training(&a, Some(&running)).unwrap();
            let y = columns_of(&normed.y.to_vec().unwrap(), channels);
            let found = wide(&normed.variance);
            let units = columns_of(&x, channels);
            let [variance, y] = errors(&units, &found, &y, f64::from(1e-5f32));
            assert!(variance < VARIANCE && y < 6e-6, "{rows} about {mean}: {variance:e}, {y:e}");
            let unbiased = rows as f64 / (rows - 1) as f64;
            let running = wide(&normed.running.unwrap().variance);
            for (found, unit) in running.into_iter().zip(&units) {
                let want = moments(unit.iter().copied())[1] * unbiased;
                assert!((found / want - 1.0).abs() < VARIANCE, "{rows} about {mean}: {found}");
            }
        }
    });
}

#[test]
fn group_norms_hold_what_variances_hold() {
    each(|gpu| {
        for (shape, mean) in
            [[2, 60, 8], [1, 9000, 8]].into_iter().flat_map(|of| MEANS.map(|mean| (of, mean)))
        {
            let x = about(&shape, mean);
            let norm = GroupNorm::new(2).eps(0.0);
            let normed = norm.with_statistics(&gpu.tensor(&x, shape).unwrap()).unwrap();
            let units = |of: &[f32]| -> Vec<Vec<f32>> {
                let of_outer = of.chunks(shape[1] * 8);
                let of_group =
                    |all: &[f32], g: usize| all.chunks(4).skip(g).step_by(2).flatten().copied().collect();
                of_outer.flat_map(|all| [of_group(all, 0), of_group(all, 1)]).collect()
            };
            let y = units(&normed.y.to_vec().unwrap());
            let [variance, y] = errors(&units(&x), &variances(&normed.rstd), &y, 0.0);
            assert!(variance < OF_RSTD && y < 6e-6, "{shape:?} about {mean}: {variance:e}, {y:e}");
        }
    });
}

/// The gradient of a unit of a norm with epsilon 0 and without gamma.
fn gradient(x: &[f32], g: &[f32]) -> Vec<f64> {
    let [mean, variance] = moments(x.iter().copied());
    let (n, rstd) = (x.len() as f64, variance.powf(-0.5));
    let normed: Vec<f64> = x.iter().map(|x| (f64::from(*x) - mean) * rstd).collect();
    let of_g = g.iter().map(|g| f64::from(*g)).sum::<f64>() / n;
    let along = g.iter().zip(&normed).map(|(g, x)| f64::from(*g) * x).sum::<f64>() / n;
    g.iter().zip(&normed).map(|(g, x)| rstd * (f64::from(*g) - of_g - x * along)).collect()
}

#[test]
fn gradients_of_norms_are_as_exact_as_those_of_elements_about_zero() {
    each(|gpu| {
        for (length, mean) in
            [64, 9000, 300_000].into_iter().flat_map(|n| [0.0, 1e3, 1e6].map(|mean| (n, mean)))
        {
            let [x, g] = [1, 2].map(|seed| Fill::Normal.values::<f32>(3 * length, seed));
            let x: Vec<f32> = x.into_iter().map(|x| x + mean).collect();
            let units = rows_of(&x, length).into_iter().zip(rows_of(&g, length));
            let want = units.flat_map(|(x, g)| gradient(&x, &g)).collect::<Vec<f64>>();
            let most = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let off = |found: &Tensor<f32>| {
                let off = wide(found).into_iter().zip(&want).map(|(found, want)| (found - want).abs());
                off.fold(0.0, f64::max) / most
            };
            let [a, b] = [&x, &g].map(|of| gpu.tensor(of, [3, length]).unwrap());
            let norm = LayerNorm::new().eps(0.0);
            let normed = norm.with_statistics(&a).unwrap();
            let of_rows = norm.backward(&a, &normed, &b).unwrap().0;
            let norm = BatchNorm::new().eps(0.0);
            let normed = norm.training(&a.t(), None).unwrap();
            let of_columns = norm.training_backward(&a.t(), &normed, &b.t()).unwrap().0;
            for found in [of_rows, of_columns.t()] {
                let off = off(&found);
                assert!(off < VARIANCE, "{length} about {mean}: {off:e}");
            }
        }
    });
}

#[test]
fn equal_elements_have_no_variance_whatever_their_mean() {
    each(|gpu| {
        for mean in [0.1f32, 1e3, 16_777_213.0, 1e9, 1e25, f32::MAX] {
            for shape in [[2, 77], [2, 9001]] {
                let x = gpu.tensor(&vec![mean; shape[0] * shape[1]], shape).unwrap();
                let of_rows = LayerNorm::new().with_statistics(&x).unwrap();
                let of_columns = BatchNorm::new().training(&x.t(), None).unwrap();
                assert_eq!(of_columns.variance.to_vec().unwrap(), [0.0; 2], "{mean}");
                for (y, rstd) in [(&of_rows.y, &of_rows.rstd), (&of_columns.y, &of_columns.rstd)] {
                    let y = y.to_vec().unwrap();
                    assert!(y.iter().all(|y| *y == 0.0), "{mean}: {}", y[0]);
                    let eps = f64::from(1e-5f32);
                    let off = rstd
                        .to_vec()
                        .unwrap()
                        .iter()
                        .map(|r| (f64::from(*r) * eps.sqrt() - 1.0).abs())
                        .fold(0.0, f64::max);
                    assert!(off < 1e-6, "{mean}: {off:e}");
                }
            }
        }
    });
}
