//! Ranges and truncated singular value decompositions against the best possible, in f64 through `faer`.

use crate::spectrum::{figure, normal, off_orthonormal, place, read, tail, with_spectrum};
use faer::Mat;
use tilewise::sketch::{RangeFinder, Rsvd, SketchKind, Svd, range, rsvd};
use tilewise::{Error, Fill, Gpu, Precision, Tensor};

/// Spectra of 200 singular values: one that is flat, one that decays, one in clusters.
fn spectra() -> [(&'static str, Vec<f64>); 3] {
    let cluster = |i| match i {
        0..20 => 1.0,
        20..50 => 0.1,
        _ => 0.01,
    };
    [
        ("flat", (0..200).map(|i| 1.0 - f64::from(i) / 400.0).collect()),
        ("decaying", (0..200).map(|i| (-f64::from(i) / 10.0).exp()).collect()),
        ("clustered", (0..200).map(cluster).collect()),
    ]
}

/// $\|A - U \mathrm{diag}(s) V^T\|_F$, in f64.
fn error_of(a: &Mat<f64>, svd: &Svd) -> f64 {
    let (u, v) = (read(&svd.u), read(&svd.v));
    let us = Mat::from_fn(u.nrows(), svd.rank, |i, j| u[(i, j)] * svd.s[j]);
    (a - us * v.transpose()).norm_l2()
}

/// Shapes, order, orthonormality, and the residual as it was told.
pub(super) fn assert_sound(a: &Mat<f64>, svd: &Svd, what: &str) {
    let k = svd.rank;
    assert_eq!([svd.u.shape(), svd.v.shape()], [[a.nrows(), k], [a.ncols(), k]], "{what}");
    assert_eq!(svd.s.len(), k, "{what}");
    assert!(svd.s.is_sorted_by(|x, y| x >= y && *y >= 0.0), "{what}: {:?}", svd.s);
    for q in [&svd.u, &svd.v] {
        let off = off_orthonormal(q);
        figure("rsvd orthogonality per column", off / k.max(1) as f64);
        assert!(off <= k as f64 * 2f64.powi(-20), "{what}: off orthonormal by {off:e}");
    }
    let (error, norm) = (error_of(a, svd), a.norm_l2());
    assert!((error - svd.residual).abs() <= 1e-3 * error + 2e-6 * norm, "{what}: {error:e}, {svd:?}");
    assert!(svd.s_errors.len() == k && svd.s_errors.iter().all(|error| *error >= 0.0), "{what}: {svd:?}");
    assert!((svd.residual - svd.rel_residual * norm).abs() <= 1e-5 * norm, "{what}: {svd:?}");
}

#[test]
fn errors_are_within_five_per_cent_of_the_best() {
    let Some(gpu) = support::gpu() else { return };
    for (case, (name, s)) in spectra().into_iter().enumerate() {
        let (tall, exact) = place(&gpu, &with_spectrum([300, 200], &s, case as u64));
        let sigma: Vec<f64> = exact.singular_values().unwrap();
        for (rank, seed) in [(20, 0), (50, 2)] {
            let wide = (tall.t(), exact.transpose().to_owned());
            for (a, exact) in [(tall.clone(), exact.clone()), wide] {
                if a.shape()[0] < 300 && rank > 20 {
                    continue; // what it adds are kernels
                }
                let what = format!("{name} {:?}, rank {rank}", a.shape());
                let svd = Rsvd::new(&a).rank(rank).seed(seed).run().unwrap();
                assert_eq!(svd.rank, rank);
                assert_sound(&exact, &svd, &what);
                let ratio = error_of(&exact, &svd) / tail(&sigma, rank);
                assert!(ratio <= 1.05, "{what}: {ratio} times the least error");
                figure("rsvd residual", ratio);
                for (found, sigma_i) in svd.s.iter().zip(&sigma) {
                    let off = (found - sigma_i).abs();
                    figure("rsvd singular value", off / sigma[rank]);
                    assert!(off <= 0.1 * sigma[rank] + 1e-6 * sigma[0], "{what}: {found} for {sigma_i}");
                }
                // In blocks, the error is no worse.
                let blocks = Rsvd::new(&a).rank(rank).seed(seed).block(17).run().unwrap();
                assert_sound(&exact, &blocks, &what);
                let ratio = error_of(&exact, &blocks) / tail(&sigma, rank);
                assert!(ratio <= 1.05, "{what}, in blocks: {ratio}");
                figure("rsvd residual in blocks", ratio);
            }
        }
    }
}

#[test]
fn a_tolerance_is_met_by_little_more_than_the_least_rank() {
    let Some(gpu) = support::gpu() else { return };
    for (case, (name, s)) in spectra().into_iter().enumerate() {
        let (a, exact) = place(&gpu, &with_spectrum([300, 200], &s, 10 + case as u64));
        let sigma: Vec<f64> = exact.singular_values().unwrap();
        let norm = exact.norm_l2();
        for tolerance in [0.2, 1e-4] {
            let least = (0..=200).find(|&rank| tail(&sigma, rank) <= tolerance * norm).unwrap();
            let svd = Rsvd::new(&a).tolerance(tolerance).run().unwrap();
            let error = error_of(&exact, &svd) / norm;
            let what = format!("{name}, {tolerance}: rank {} of at least {least}, {error:e}", svd.rank);
            figure("rsvd ranks above the least", (svd.rank - least) as f64);
            assert_sound(&exact, &svd, &what);
            assert!(error <= tolerance, "{what}");
            assert!(svd.rank <= least + 2 + least / 20, "{what}");
            // A rank beside it is the most.
            let few = Rsvd::new(&a).tolerance(tolerance).rank(5).run().unwrap();
            assert_eq!(few.rank, svd.rank.min(5), "{what}");
        }
    }
    // All of the norm may be left.
    let a = gpu.random::<f32>([30, 20], Fill::Uniform, 1).unwrap();
    assert_eq!(Rsvd::new(&a).tolerance(1.0).run().unwrap().rank, 0);
}

#[test]
fn tolerances_end_where_a_matrix_does() {
    let Some(gpu) = support::gpu() else { return };
    let (a, exact) = place(&gpu, &with_spectrum([300, 200], &[1.0, 0.9, 0.8, 0.5, 0.3, 0.2, 0.1], 3));
    let svd = Rsvd::new(&a).tolerance(1e-6).run().unwrap();
    assert_eq!(svd.rank, 7, "{svd:?}");
    assert_sound(&exact, &svd, "rank 7");
}

#[test]
fn every_scale_is_the_same_but_for_the_scale() {
    let Some(gpu) = support::gpu() else { return };
    let (_, s) = &spectra()[1];
    let base = with_spectrum([120, 80], &s[..60], 5);
    let found = |exponent: i32| {
        let (a, exact) = place(&gpu, &Mat::from_fn(120, 80, |i, j| base[(i, j)] * 2f64.powi(exponent)));
        let svd = rsvd(&a, 20).unwrap();
        assert_sound(&exact, &svd, &format!("times 2^{exponent}"));
        let s: Vec<f64> = svd.s.iter().map(|s| s * 2f64.powi(-exponent)).collect();
        (svd.u.to_vec().unwrap(), s, svd.v.to_vec().unwrap())
    };
    let one = found(0);
    for exponent in [-100, -60, -27, 27, 60, 100, 125] {
        assert!(found(exponent) == one, "2^{exponent}");
    }
    for scale in [1e-8, 1e8, 1e30] {
        let (a, exact) = place(&gpu, &Mat::from_fn(120, 80, |i, j| base[(i, j)] * scale));
        let svd = Rsvd::new(&a).tolerance(0.1).run().unwrap();
        assert_sound(&exact, &svd, &format!("times {scale}"));
        assert!(error_of(&exact, &svd) <= 0.1 * exact.norm_l2());
    }
}

#[test]
fn the_same_seed_is_the_same_bits() {
    let Some(gpu) = support::gpu() else { return };
    let a = gpu.random::<f32>([200, 150], Fill::Uniform, 1).unwrap();
    let bits = |seed: u64, kind| {
        let svd = Rsvd::new(&a).rank(30).seed(seed).block(32).kind(kind).run().unwrap();
        (svd.u.to_vec().unwrap(), svd.s, svd.v.to_vec().unwrap())
    };
    let gaussian = bits(7, SketchKind::Gaussian);
    assert!(gaussian == bits(7, SketchKind::Gaussian));
    assert!(gaussian != bits(8, SketchKind::Gaussian));
    for kind in [SketchKind::Sign, SketchKind::Hadamard, SketchKind::Sjlt { nonzeros: 4 }] {
        let (_, s, _) = bits(7, kind);
        assert!((s[0] / gaussian.1[0] - 1.0).abs() < 0.1, "{kind:?}: {} and {}", s[0], gaussian.1[0]);
    }
}

#[test]
fn a_device_that_may_multiply_f32_in_f16_keeps_what_is_promised() {
    let Some(gpu) = support::own(|options| options.precision = Precision::Fast) else { return };
    let (a, exact) = place(&gpu, &with_spectrum([120, 80], &spectra()[1].1[..60], 5));
    assert_sound(&exact, &rsvd(&a, 20).unwrap(), "fast");
}

#[test]
fn every_size_and_layout() {
    let Some(gpu) = support::gpu() else { return };
    for shape @ [m, n] in [[1, 1], [1, 9], [17, 5], [5, 17], [33, 33], [2, 300]] {
        let (a, exact) = place(&gpu, &normal(shape, 3));
        let rank = m.min(n);
        let svd = rsvd(&a, rank).unwrap();
        assert_sound(&exact, &svd, &format!("{shape:?}"));
        assert!(svd.rel_residual <= 1e-6, "{shape:?}: all of it, {svd:?}");
        let back = read(&svd.to_matrix().unwrap());
        assert!((&back - &exact).norm_l2() <= 2e-6 * exact.norm_l2(), "{shape:?}");
        let all = Rsvd::new(&a).tolerance(1e-5).run().unwrap();
        assert_sound(&exact, &all, &format!("{shape:?}, by tolerance"));
        assert_eq!(all.rank, rank, "{shape:?}");
        assert_eq!(Rsvd::new(&a).rank(rank + 5).clamped().run().unwrap().rank, rank);
        assert_eq!(rsvd(&a, 0).unwrap().rel_residual, 1.0);
    }
    let (a, exact) = place(&gpu, &normal([40, 30], 4));
    let flat = gpu.tensor(&[vec![f32::NAN; 7], a.to_vec().unwrap()].concat(), [1207]).unwrap();
    let odd = flat.as_strided(&[13, 15], &[90, 2], 7).unwrap(); // every third row, every other column
    let picked = Mat::from_fn(13, 15, |i, j| exact[(3 * i, 2 * j)]);
    assert_sound(&picked, &rsvd(&odd, 6).unwrap(), "gaps");
    assert_sound(&picked.transpose().to_owned(), &rsvd(&odd.t(), 6).unwrap(), "gaps, transposed");
}

#[test]
fn ranks_beyond_what_a_matrix_has_are_zeros_with_orthonormal_vectors() {
    let Some(gpu) = support::gpu() else { return };
    let exact = Mat::from_fn(40, 30, |i, j| if i == j && i < 5 { 2.0 } else { 0.0 });
    let (a, exact) = place(&gpu, &exact);
    for block in if support::is_full_sweep() { vec![3, 5, 30] } else { vec![30] } {
        let svd = Rsvd::new(&a).rank(12).block(block).run().unwrap();
        assert_sound(&exact, &svd, &format!("rank 5, blocks of {block}"));
        assert!(svd.s[5..].iter().all(|&s| s <= 1e-5) && svd.rank == 12, "{svd:?}");
    }
    let zeros = gpu.zeros::<f32>([20, 30]).unwrap();
    let svd = rsvd(&zeros, 4).unwrap();
    assert_sound(&Mat::zeros(20, 30), &svd, "zeros");
    assert_eq!((svd.s, svd.rel_residual), (vec![0.0; 4], 0.0));
    let none = Rsvd::new(&zeros).tolerance(0.1).run().unwrap();
    assert_eq!((none.rank, none.u.shape(), none.v.shape()), (0, &[20, 0][..], &[30, 0][..]));
    assert_eq!(none.to_matrix().unwrap().to_vec().unwrap(), [0.0; 600]);
    assert!(off_orthonormal(&range(&zeros, 6).unwrap()) <= 1e-6);
}

#[test]
fn ranges_hold_most_of_a_matrix() {
    let Some(gpu) = support::gpu() else { return };
    for (case, (name, s)) in spectra().into_iter().enumerate() {
        let (a, exact) = place(&gpu, &with_spectrum([300, 200], &s, 20 + case as u64));
        let q = range(&a, 60).unwrap();
        assert!(off_orthonormal(&q) <= 60.0 * 2f64.powi(-22), "{name}: {:e}", off_orthonormal(&q));
        let q = read(&q);
        let left = (&exact - &q * (q.transpose() * &exact)).norm_l2();
        assert!(left <= 1.02 * tail(&s, 50), "{name}: {left}, at best {}", tail(&s, 50));
        figure("range residual", left / tail(&s, 50));
        // Without power iterations: Halko, Martinsson and Tropp's theorem 10.5, in the mean; twice it here.
        let q = read(&RangeFinder::new(&a, 60).power(0).seed(3).kind(SketchKind::Gaussian).run().unwrap());
        let left = (&exact - &q * (q.transpose() * &exact)).norm_l2();
        assert!(left <= 2.0 * (1.0f64 + 40.0 / 19.0).sqrt() * tail(&s, 40), "{name}: {left}");
    }
    let a = gpu.random::<f32>([9, 4], Fill::Uniform, 1).unwrap();
    assert_eq!(range(&a, 0).unwrap().shape(), [9, 0]);
    assert!(matches!(range(&a, 5), Err(Error::Shape { .. })));
}

#[test]
fn mistakes_are_errors_that_say_what_is_wrong() {
    let Some(gpu) = support::gpu() else { return };
    fn said(result: tilewise::Result<Svd>) -> String {
        let error = result.expect_err("a mistake");
        assert!(matches!(error, Error::Shape { .. } | Error::Input { .. }), "{error:?}");
        error.to_string()
    }
    fn zeros(gpu: &Gpu, shape: &[usize]) -> Tensor<f32> {
        gpu.zeros::<f32>(shape).unwrap()
    }
    let a = gpu.random::<f32>([6, 5], Fill::Uniform, 1).unwrap();
    assert!(said(rsvd(&a, 6)).contains("[6, 5]"));
    assert!(said(Rsvd::new(&a).run()).contains("`rank` or a `tolerance`"));
    assert!(said(Rsvd::new(&a).rank(2).block(0).run()).contains("block"));
    for tolerance in [0.0, -1.0, f64::NAN, 1e-9] {
        assert!(said(Rsvd::new(&a).tolerance(tolerance).run()).contains("tolerance"), "{tolerance}");
    }
    for shape in [&[][..], &[5], &[2, 3, 4], &[0, 3], &[3, 0]] {
        assert!(said(rsvd(&zeros(&gpu, shape), 1)).contains("rows and columns"), "{shape:?}");
    }
    for (value, name) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        let mut data = a.to_vec().unwrap();
        data[3 * 5 + 2] = value;
        let bad = gpu.tensor(&data, [6, 5]).unwrap();
        let message = said(rsvd(&bad, 2));
        assert!(message.contains(name) && message.contains("[3, 2]"), "{message}");
        assert!(said(rsvd(&bad.t(), 2)).contains("[2, 3]"));
        assert!(range(&bad, 2).unwrap_err().to_string().contains("[3, 2]"));
    }
    assert!(rsvd(&a, 5).is_ok(), "all works as before");
}
