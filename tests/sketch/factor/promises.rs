//! What singular value decompositions promise of every matrix: orthonormal vectors past rounding, values near a noise
//! floor, and estimates of their errors.

use super::svd::assert_sound;
use crate::spectrum::{figure, normal, place, with_spectrum};
use faer::Mat;
use tilewise::sketch::{RangeFinder, Rsvd, rsvd};
use tilewise::{Gpu, Tensor};

/// Rotations of pairs of columns, whose lengths fall by this factor each.
fn rotations(n: usize, factor: f64) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| {
        let length = factor.powf(j as f64);
        match (i / 2 == j / 2, i % 2, j % 2) {
            (false, ..) => 0.0,
            (_, 0, 0) | (_, 1, 1) => 0.6 * length,
            (_, 0, _) => -0.8 * length,
            _ => 0.8 * length,
        }
    })
}

/// Square matrices whose singular values fall far below the rounding of f32.
fn past_rounding() -> Vec<(&'static str, Mat<f64>)> {
    let diagonal =
        |n: usize, factor: f64| Mat::from_fn(n, n, |i, j| if i == j { factor.powf(i as f64) } else { 0.0 });
    let bidiagonal = Mat::from_fn(90, 90, |i, j| match j.wrapping_sub(i) {
        0 => 0.8f64.powf(i as f64),
        1 => 0.5 * 0.8f64.powf(i as f64),
        _ => 0.0,
    });
    let (sine, cosine) = (1.2f64.sin(), 1.2f64.cos());
    let kahan = Mat::from_fn(100, 100, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => -cosine * sine.powf(i as f64),
        std::cmp::Ordering::Equal => sine.powf(i as f64),
        std::cmp::Ordering::Greater => 0.0,
    });
    let dense: Vec<f64> = (0..100).map(|i| 0.8f64.powi(i)).collect();
    vec![
        ("rotations of 20", rotations(20, 0.2)),
        ("rotations of 100", rotations(100, 0.8)),
        ("a diagonal", diagonal(100, 0.8)),
        ("a bidiagonal matrix", bidiagonal),
        ("Kahan's matrix", kahan),
        ("a dense matrix", with_spectrum([130, 100], &dense, 1)),
    ]
}

#[test]
fn vectors_past_rounding_are_orthonormal() {
    let Some(gpu) = support::gpu() else { return };
    let seeds = if support::is_full_sweep() { 0..20 } else { 0..2 };
    for (name, a) in past_rounding() {
        let (a, exact) = place(&gpu, &a);
        let n = a.shape()[1];
        for seed in seeds.clone() {
            for (rank, block) in [(n, None), (n - 1, Some(33)), (n - 3, None), (n / 2, Some(8))] {
                let options = Rsvd::new(&a).rank(rank).seed(seed);
                let options = if let Some(block) = block { options.block(block) } else { options };
                let svd = options.run().unwrap();
                assert_sound(&exact, &svd, &format!("{name}, rank {rank}, blocks of {block:?}, seed {seed}"));
            }
        }
        let svd = Rsvd::new(&a).rank(n).block(8).run().unwrap();
        assert_sound(&exact, &svd, &format!("{name}, blocks of 8"));
    }
    // The smallest and the one with the defaults that were off by 1.4 and by 0.05.
    let (a, exact) = place(&gpu, &rotations(200, 0.9));
    for seed in 0..3 {
        assert_sound(
            &exact,
            &Rsvd::new(&a).rank(200).seed(seed).run().unwrap(),
            &format!("200, seed {seed}"),
        );
    }
}

/// Twenty factors and more above noise, as a principal component analysis meets them: the first values are far above
/// the noise, the last ones are a part of it.
fn components(gpu: &Gpu, noise: f64, seed: u64) -> (Tensor<f32>, Mat<f64>) {
    let (m, n, k) = (4000, 400, 40);
    let (factors, loads) = (normal([m, k], 3 * seed), normal([k, n], 3 * seed + 1));
    let scaled =
        Mat::from_fn(m, k, |i, j| 10.0 * 0.85f64.powf(j as f64) * factors[(i, j)] / (n as f64).sqrt());
    let rest = normal([m, n], 3 * seed + 2);
    let signal = scaled * loads;
    place(gpu, &Mat::from_fn(m, n, |i, j| signal[(i, j)] + noise * rest[(i, j)]))
}

/// Checks the values and their estimates. Returns the largest relative error.
fn assert_estimated(a: &Tensor<f32>, sigma: &[f64], options: &Rsvd<'_>, vacuous: f64, what: &str) -> f64 {
    let svd = options.run().unwrap();
    let norm = sigma.iter().map(|s| s * s).sum::<f64>().sqrt();
    let mut worst = 0.0f64;
    for (i, ((&s, &error), &sigma)) in svd.s.iter().zip(&svd.s_errors).zip(sigma).enumerate() {
        let off = (sigma - s).abs();
        assert!(
            off <= error,
            "{what}, value {i} of {:?}: off by {off:e} of {sigma:e}, estimated {error:e}",
            a.shape()
        );
        let allowed = vacuous * off + 3e-6 * norm;
        assert!(error <= allowed, "{what}, value {i}: off by {off:e} of {sigma:e}, estimated {error:e}");
        figure("rsvd estimate over the error", if off > 1e-3 * sigma { error / off } else { 0.0 });
        worst = worst.max(off / sigma);
    }
    worst
}

#[test]
fn values_near_a_noise_floor_are_within_one_per_cent() {
    let Some(gpu) = support::gpu() else { return };
    for (noise, seed) in [(0.5, 1), (0.1, 2), (0.5, 3), (1.0, 4)] {
        let (a, exact) = components(&gpu, noise, seed);
        let sigma = exact.singular_values().unwrap();
        for options in [Rsvd::new(&a).rank(20), Rsvd::new(&a).rank(20).seed(5)] {
            let worst = assert_estimated(&a, &sigma, &options, 40.0, &format!("noise {noise}"));
            figure("rsvd value near a noise floor", worst);
            assert!(worst <= 0.01, "noise {noise}: off by {worst}");
        }
        // Fewer iterations leave larger errors, and tell so.
        let worst = assert_estimated(&a, &sigma, &Rsvd::new(&a).rank(20).power(1), 40.0, "one iteration");
        figure("rsvd value near a noise floor, one iteration", worst);
        assert!(noise < 0.2 || worst > 0.02, "noise {noise}: off by {worst}");
    }
}

#[test]
fn estimates_cover_the_errors_of_values() {
    let Some(gpu) = support::gpu() else { return };
    let cluster = |i| match i {
        0..20 => 1.0,
        20..50 => 0.1,
        _ => 0.01,
    };
    let spectra: [(&str, Vec<f64>); 5] = [
        ("flat", (0..200).map(|i| 1.0 - f64::from(i) / 400.0).collect()),
        ("decaying", (0..200).map(|i| (-f64::from(i) / 10.0).exp()).collect()),
        ("clustered", (0..200).map(cluster).collect()),
        ("slow", (1..=200).map(|i| 1.0 / f64::from(i)).collect()),
        ("of rank 7", vec![1.0, 0.9, 0.8, 0.5, 0.3, 0.2, 0.1]),
    ];
    for (case, (name, s)) in spectra.iter().enumerate() {
        let (a, exact) = place(&gpu, &with_spectrum([300, 200], s, 40 + case as u64));
        let sigma = exact.singular_values().unwrap();
        for power in [0, 1, 2, 4] {
            for (rank, block) in [(20, 64), (50, 20), (45, 64)] {
                let options = Rsvd::new(&a).rank(rank).block(block).power(power);
                let what = format!("{name}, rank {rank}, power {power}, blocks of {block}");
                assert_estimated(&a, &sigma, &options, f64::INFINITY, &what);
            }
        }
    }
    // All of a matrix: only rounding is left, and the estimates say so.
    let (a, exact) = place(&gpu, &normal([60, 40], 5));
    let worst = assert_estimated(&a, &exact.singular_values().unwrap(), &Rsvd::new(&a).rank(40), 1.0, "all");
    assert!(worst <= 1e-5, "{worst}");
    let zeros = rsvd(&gpu.zeros::<f32>([20, 30]).unwrap(), 4).unwrap();
    assert_eq!(zeros.s_errors, [0.0; 4]);
    assert!(rsvd(&a, 0).unwrap().s_errors.is_empty());
}

#[test]
fn krylov_spaces_end_where_a_matrix_does() {
    let Some(gpu) = support::gpu() else { return };
    // More iterations than the matrix has directions for.
    for (shape, s) in [([40, 30], vec![3.0, 2.0, 1.0]), ([30, 40], vec![1.0; 20]), ([9, 300], vec![1.0; 9])] {
        let (a, exact) = place(&gpu, &with_spectrum(shape, &s, 6));
        for columns in [1, 2, 5, 9] {
            let svd = Rsvd::new(&a).rank(columns).oversampling(0).power(50).run().unwrap();
            assert_sound(&exact, &svd, &format!("{shape:?}, rank {columns}"));
            let sigma = exact.singular_values().unwrap();
            for (found, sigma) in svd.s.iter().zip(&sigma) {
                assert!((found - sigma).abs() <= 1e-5 * s[0], "{shape:?}: {found}, not {sigma}");
            }
            let q = RangeFinder::new(&a, columns).power(50).run().unwrap();
            assert!(crate::spectrum::off_orthonormal(&q) <= columns as f64 * 2f64.powi(-22));
        }
    }
}
