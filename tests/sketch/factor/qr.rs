//! Pivoted QR through a sketch, least squares and traces: against Panther's vectors, the f64 reference and `faer`.

use crate::oracles::panther::assert_rows_agree;
use crate::spectrum::{figure, normal, off_orthonormal, place, read, tail, with_spectrum};
use faer::Mat;
use faer::linalg::solvers::SolveLstsq;
use tilewise::reference::cqrrpt_core;
use tilewise::sketch::{Cqrrpt, Lstsq, PivotedQr, Sketch, SketchKind, cqrrpt, lstsq, trace};
use tilewise::{Error, Fill, Tensor};

/// Shapes, a permutation, a triangle, and both errors within what is promised; the residual that is left.
fn assert_sound(a: &Mat<f64>, qr: &PivotedQr, what: &str) {
    let (m, n) = a.shape();
    assert_eq!([qr.q.shape(), qr.r.shape()], [[m, qr.rank], [qr.rank, n]], "{what}");
    let mut pivots = qr.pivots.clone();
    pivots.sort_unstable();
    assert!(pivots.into_iter().eq(0..n), "{what}: {:?}", qr.pivots);
    let (q, r) = (read(&qr.q), read(&qr.r));
    for i in 0..qr.rank {
        assert!((0..i).all(|j| r[(i, j)] == 0.0), "{what}: row {i} of R");
    }
    let permuted = Mat::from_fn(m, n, |i, j| a[(i, qr.pivots[j])]);
    let residual = (permuted - q * r).norm_l2() / a.norm_l2().max(f64::MIN_POSITIVE);
    let off = off_orthonormal(&qr.q);
    assert!(residual <= 1e-5 && off <= 1e-5, "{what}: {residual:e} is left, off orthonormal by {off:e}");
    figure("cqrrpt residual", residual);
    figure("cqrrpt orthogonality", off);
}

#[test]
fn an_operator_of_the_callers_is_the_references_sketch() {
    let Some(gpu) = support::gpu() else { return };
    let s: Vec<f64> = (0..20).map(|i| 0.7f64.powi(i)).collect();
    let (a, exact) = place(&gpu, &with_spectrum([300, 20], &s, 1));
    let flat: Vec<f64> = (0..6000).map(|at| exact[(at / 20, at % 20)]).collect();
    for kind in [SketchKind::Gaussian, SketchKind::Sjlt { nonzeros: 4 }, SketchKind::Hadamard] {
        let operator = Sketch::new(kind, [40, 300], 5).unwrap();
        let entries: Vec<f64> = operator.to_vec().into_iter().map(f64::from).collect();
        let want = cqrrpt_core(&flat, &entries, [300, 20, 40], 1e-6);
        let found = Cqrrpt::new(&a).operator(operator).run().unwrap();
        assert_sound(&exact, &found, &format!("{kind:?}"));
        assert_eq!((found.rank, &found.pivots), (want.rank, &want.pivots), "{kind:?}");
        let r: Vec<f64> = found.r.to_vec().unwrap().into_iter().map(f64::from).collect();
        assert_rows_agree(&r, &want.r, 20, 1e-5, &format!("{kind:?}"));
    }
    let other = Sketch::new(SketchKind::Gaussian, [40, 299], 5).unwrap();
    assert!(matches!(Cqrrpt::new(&a).operator(other).run(), Err(Error::Shape { .. })));
}

#[test]
fn gaussian_matrices_have_their_full_rank_with_every_seed() {
    let Some(gpu) = support::gpu() else { return };
    for seed in 0..50 {
        let (a, exact) = place(&gpu, &normal([1000, 50], seed));
        let qr = Cqrrpt::new(&a).seed(seed).run().unwrap();
        assert_eq!(qr.rank, 50, "seed {seed}");
        assert_sound(&exact, &qr, &format!("seed {seed}"));
    }
}

#[test]
fn a_low_rank_is_found_at_every_scale() {
    let Some(gpu) = support::gpu() else { return };
    for seed in 0..5 {
        let product = normal([1000, 8], 2 * seed) * normal([8, 30], 2 * seed + 1);
        for scale in [1e-30, 1e-8, 1.0, 1e8, 1e30] {
            let (a, exact) = place(&gpu, &Mat::from_fn(1000, 30, |i, j| product[(i, j)] * scale));
            let qr = Cqrrpt::new(&a).seed(seed).run().unwrap();
            assert_eq!(qr.rank, 8, "seed {seed}, times {scale:e}");
            assert_sound(&exact, &qr, &format!("seed {seed}, times {scale:e}"));
        }
    }
}

#[test]
fn decaying_spectra_are_factored_and_reveal_their_rank() {
    let Some(gpu) = support::gpu() else { return };
    for digits in [2.0, 4.0, 5.0] {
        let s: Vec<f64> = (0..40).map(|i| 10f64.powf(-digits * f64::from(i) / 39.0)).collect();
        let (a, exact) = place(&gpu, &with_spectrum([600, 40], &s, 2));
        let qr = cqrrpt(&a).unwrap();
        assert_sound(&exact, &qr, &format!("{digits} digits"));
        assert_eq!(qr.rank, 40, "{digits} digits");
        // Panther's own runs are within 1.7 of LAPACK's trailing norms.
        let (best, r) = (exact.col_piv_qr().thin_R().to_owned(), read(&qr.r));
        for i in 0..38 {
            let trailing = |r: &Mat<f64>| r.get(i.., i..).norm_l2();
            let ratio = trailing(&r) / trailing(&best);
            assert!(ratio <= 2.5, "{digits} digits, from {i} on: {ratio}");
            figure("cqrrpt trailing norm", ratio);
        }
    }
    // What is below the tolerance is rounding, and is left out.
    let (a, exact) = place(&gpu, &with_spectrum([600, 40], &[1.0, 1e-2, 1e-4, 1e-9], 3));
    let qr = cqrrpt(&a).unwrap();
    assert_eq!(qr.rank, 3);
    assert_sound(&exact, &qr, "a gap");
}

#[test]
fn what_a_tolerance_leaves_out_asks_for_no_larger_sketch() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let s: Vec<f64> = (0..40).map(|i| 10f64.powf(-5.0 * f64::from(i) / 39.0)).collect();
    let (a, _) = place(&gpu, &with_spectrum([600, 40], &s, 2));
    let launches = |options: &Cqrrpt<'_>| {
        let before = gpu.stats().launches;
        (options.run().unwrap(), gpu.stats().launches - before)
    };
    let rough = Cqrrpt::new(&a).tolerance(1e-2);
    let same = Sketch::new(SketchKind::Sjlt { nonzeros: 4 }, [66, 600], 0).unwrap();
    let ((found, tested), (_, once)) = (launches(&rough), launches(&rough.clone().operator(same)));
    assert!((10..30).contains(&found.rank) && off_orthonormal(&found.q) <= 1e-5, "{}", found.rank);
    assert_eq!(tested, once, "launches, of one round and no more");
}

#[test]
fn every_shape_and_structure() {
    let Some(gpu) = support::gpu() else { return };
    for shape @ [m, n] in [[1, 1], [1, 7], [7, 1], [5, 9], [30, 30], [200, 3], [3000, 2], [3000, 100]] {
        let (a, exact) = place(&gpu, &normal(shape, 4));
        let qr = cqrrpt(&a).unwrap();
        assert_eq!(qr.rank, m.min(n), "{shape:?}");
        assert_sound(&exact, &qr, &format!("{shape:?}"));
    }
    type Structure = (&'static str, usize, fn(usize, usize) -> f64);
    let structured: [Structure; 5] = [
        ("identity", 50, |i, j| f64::from(u8::from(i == j))),
        ("every column twice", 25, |i, j| ((i * 7 + j / 2 * 13 + i * (j / 2)) % 31) as f64 - 15.0),
        ("columns of zeros", 16, |i, j| if j % 3 == 0 { 0.0 } else { f64::from(u8::from(i % 50 == j)) }),
        ("columns of all scales", 50, |i, j| f64::from(u8::from(i % 50 == j)) * 0.85f64.powf(j as f64)),
        ("zeros", 0, |_, _| 0.0),
    ];
    for (name, most, entry) in structured {
        let n = if name.starts_with("columns of z") { 24 } else { 50 };
        let (a, exact) = place(&gpu, &Mat::from_fn(400, n, entry));
        let qr = cqrrpt(&a).unwrap();
        assert_sound(&exact, &qr, name);
        let sigma: Vec<f64> = exact.singular_values().unwrap();
        let rank = sigma.iter().filter(|&&s| s > 1e-6 * sigma[0]).count();
        assert_eq!(qr.rank, rank, "{name}");
        assert!(rank <= most, "{name}: {rank}");
    }
    let (a, exact) = place(&gpu, &normal([40, 300], 4));
    assert_sound(&exact.transpose().to_owned(), &cqrrpt(&a.t()).unwrap(), "a transposed view");
}

/// The solution by `faer`, and the norms of its residuals.
fn best(a: &Mat<f64>, b: &Mat<f64>) -> (Mat<f64>, Vec<f64>) {
    let x = a.qr().solve_lstsq(b);
    let rest = a * &x - b;
    let norms = (0..b.ncols()).map(|j| rest.col(j).norm_l2()).collect();
    (x, norms)
}

#[test]
fn least_squares_agree_with_qr() {
    let Some(gpu) = support::gpu() else { return };
    let columns = |j: usize| 10f64.powf(-4.0 * j as f64 / 19.0);
    let ill: Vec<f64> = (0..20).map(columns).collect();
    let gaussian = normal([800, 20], 1);
    let scaled = Mat::from_fn(800, 20, |i, j| gaussian[(i, j)] * columns(j));
    let cases = [
        ("gaussian", gaussian.clone(), 1.0),
        ("columns of all lengths", scaled, 1.0),
        ("ill conditioned", with_spectrum([800, 20], &ill, 2), 1e4),
        ("square", normal([30, 30], 3) + Mat::<f64>::identity(30, 30) * faer::Scale(20.0), 10.0),
        ("one column", normal([500, 1], 3), 1.0),
    ];
    for (name, a, condition) in cases {
        let condition: f64 = condition;
        let (m, n) = a.shape();
        let (a, exact) = place(&gpu, &a);
        for (noise, columns) in [(0.0, 1), (1e-3, 3), (1.0, 2)] {
            let b = &exact * normal([n, columns], 7) + normal([m, columns], 8) * faer::Scale(noise);
            let (b, exact_b) = place(&gpu, &b);
            let (want, norms) = best(&exact, &exact_b);
            let found = lstsq(&a, &b).unwrap();
            let x = read(&found.x);
            let what = format!("{name}, noise {noise}: {} iterations", found.iterations);
            let rest = &exact * &x - &exact_b;
            for j in 0..columns {
                let room = 1e-6 * (exact.norm_l2() * x.col(j).norm_l2() + exact_b.col(j).norm_l2());
                let residual = rest.col(j).norm_l2();
                assert!(residual <= 1.0001 * norms[j] + room, "{what}: {residual:e}, at best {:e}", norms[j]);
                if norms[j] > 1e-3 * exact_b.col(j).norm_l2() {
                    figure("lstsq residual beyond the least", (residual / norms[j] - 1.0).max(0.0));
                }
                assert!((found.residuals[j] - residual).abs() <= 1e-4 * residual + room, "{what}");
                // Scaled columns are no harm: errors count in the lengths that the columns have.
                let off = (0..n).map(|i| ((x[(i, j)] - want[(i, j)]) * exact.col(i).norm_l2()).powi(2));
                let size: f64 = (0..n).map(|i| (want[(i, j)] * exact.col(i).norm_l2()).powi(2)).sum();
                let (off, size) = (off.sum::<f64>().sqrt(), size.sqrt());
                let allowed = 2e-6 * condition * (size + condition.min(100.0) * norms[j]);
                assert!(off <= allowed, "{what}: off by {off:e} of {size:e}, allowed {allowed:e}");
            }
            assert!(found.rank == n && found.iterations <= 80, "{what}");
            figure("lstsq iterations", found.iterations as f64);
        }
    }
}

#[test]
fn deficient_problems_have_the_solution_of_the_least_norm() {
    let Some(gpu) = support::gpu() else { return };
    for (shape @ [m, n], rank) in [([600, 20], 5), ([30, 40], 30), ([40, 60], 7)] {
        let s: Vec<f64> = (0..rank).map(|i| 1.0 - 0.5 * i as f64 / rank as f64).collect();
        let (a, exact) = place(&gpu, &with_spectrum(shape, &s, 5));
        let (b, exact_b) = place(&gpu, &normal([m, 2], 6));
        let svd = exact.thin_svd().unwrap();
        let (u, v) = (svd.U().get(.., ..rank), svd.V().get(.., ..rank));
        let inverse = Mat::from_fn(n, rank, |i, j| v[(i, j)] / svd.S().column_vector()[j]);
        let want = inverse * (u.transpose() * &exact_b);
        let found = lstsq(&a, &b).unwrap();
        assert_eq!(found.rank, rank, "{shape:?}");
        let off = (read(&found.x) - &want).norm_l2() / want.norm_l2();
        assert!(off <= 1e-5, "{shape:?}: {off:e}");
    }
    let zeros = lstsq(&gpu.zeros([50, 3]).unwrap(), &gpu.random([50], Fill::Uniform, 1).unwrap()).unwrap();
    assert_eq!((zeros.rank, zeros.x.to_vec().unwrap()), (0, vec![0.0; 3]));
    let a = gpu.random::<f32>([50, 3], Fill::Uniform, 1).unwrap();
    let none = lstsq(&a, &gpu.zeros([50]).unwrap()).unwrap();
    assert_eq!((none.x.to_vec().unwrap(), none.residuals), (vec![0.0; 3], vec![0.0]));
    let scaled = |power: i32| {
        let factor = gpu.tensor(&[2f32.powi(power)], []).unwrap();
        let b = gpu.random::<f32>([50], Fill::Uniform, 2).unwrap();
        let x = lstsq(&tilewise::ops::mul(&a, &factor).unwrap(), &b).unwrap().x.to_vec().unwrap();
        x.iter().map(|x| f64::from(*x) * 2f64.powi(power)).collect::<Vec<_>>()
    };
    assert!(scaled(0) == scaled(60) && scaled(0) == scaled(-60), "no scale matters");
}

#[test]
fn traces_are_within_four_standard_errors() {
    let Some(gpu) = support::gpu() else { return };
    let n = 200;
    let g = normal([n, n], 1);
    let cases = [
        ("gaussian", g.clone()),
        ("symmetric", &g + g.transpose()),
        ("positive", &g * g.transpose()),
        ("decaying", with_spectrum([n, n], &(0..50).map(|i| 0.8f64.powi(i)).collect::<Vec<_>>(), 2)),
        ("diagonal", Mat::from_fn(n, n, |i, j| if i == j { i as f64 - 50.0 } else { 0.0 })),
    ];
    for (name, a) in cases {
        let (a, exact) = place(&gpu, &a);
        let want: f64 = (0..n).map(|i| exact[(i, i)]).sum();
        let rounding =
            1e-6 * (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|at| exact[at].abs()).sum::<f64>();
        let off_diagonal: f64 = (0..n * n)
            .filter(|at| at / n != at % n)
            .map(|at| exact[(at / n, at % n)] * (exact[(at / n, at % n)] + exact[(at % n, at / n)]))
            .sum();
        for (samples, seed) in [(16, 1), (64, 2), (64, 3), (300, 4)] {
            for a in [a.clone(), a.t()] {
                let found = trace(&a, samples, seed).unwrap();
                let off = (found.value - want).abs();
                let what = format!("{name}, {samples} samples: {found:?}, not {want}");
                assert!(off <= 4.0 * found.standard_error + rounding, "{what}");
                if name != "diagonal" {
                    figure("trace standard errors", off / found.standard_error);
                }
                let defined = (off_diagonal / samples as f64).sqrt();
                assert!(found.standard_error <= 2.0 * defined + rounding, "{what}, error {defined}");
                assert!(found.standard_error >= 0.5 * defined - rounding, "{what}, error {defined}");
            }
        }
    }
}

#[test]
fn mistakes_are_errors_that_say_what_is_wrong() {
    let Some(gpu) = support::gpu() else { return };
    let said = |error: Error| {
        assert!(matches!(error, Error::Shape { .. } | Error::Input { .. }), "{error:?}");
        error.to_string()
    };
    let a = gpu.random::<f32>([6, 5], Fill::Uniform, 1).unwrap();
    let b = gpu.random::<f32>([6], Fill::Uniform, 2).unwrap();
    for shape in [&[][..], &[5], &[2, 3, 4], &[0, 3], &[3, 0]] {
        let empty: Tensor<f32> = gpu.zeros(shape).unwrap();
        assert!(said(cqrrpt(&empty).unwrap_err()).contains("rows and columns"));
        assert!(said(lstsq(&empty, &b).unwrap_err()).contains("rows and columns"));
        assert!(said(trace(&empty, 4, 1).unwrap_err()).contains("rows and columns"));
    }
    let mut data = a.to_vec().unwrap();
    data[8] = f32::NAN;
    let bad = gpu.tensor(&data, [6, 5]).unwrap();
    assert!(said(cqrrpt(&bad).unwrap_err()).contains("NaN at [1, 3]"));
    assert!(said(lstsq(&bad, &b).unwrap_err()).contains("NaN at [1, 3]"));
    assert!(said(trace(&bad.slice(0, ..5).unwrap(), 4, 1).unwrap_err()).contains("NaN at [1, 3]"));
    let large = gpu.tensor(&[f32::MAX; 25], [5, 5]).unwrap();
    assert!(said(trace(&large, 4, 1).unwrap_err()).contains("too large"));
    assert!(said(trace(&a, 4, 1).unwrap_err()).contains("square"));
    assert!(said(trace(&a.slice(0, ..5).unwrap(), 1, 1).unwrap_err()).contains("at least 2"));
    for gamma in [0.5, -1.0, f64::NAN, f64::INFINITY] {
        assert!(said(Cqrrpt::new(&a).gamma(gamma).run().unwrap_err()).contains("gamma"));
    }
    for tolerance in [0.0, -1.0, 1.0, f64::NAN] {
        assert!(said(Cqrrpt::new(&a).tolerance(tolerance).run().unwrap_err()).contains("tolerance"));
        assert!(said(Lstsq::new(&a, &b).tolerance(tolerance).run().unwrap_err()).contains("tolerance"));
        assert!(said(Lstsq::new(&a, &b).rank_tolerance(tolerance).run().unwrap_err()).contains("tolerance"));
    }
    assert!(said(lstsq(&a, &b.slice(0, ..5).unwrap()).unwrap_err()).contains("[5]"));
    let bad = gpu.tensor(&[1.0, 2.0, f32::INFINITY, 4.0, 5.0, 6.0], [6]).unwrap();
    assert!(said(lstsq(&a, &bad).unwrap_err()).contains("the right-hand side: has the entry inf at [2, 0]"));
    assert_eq!(lstsq(&a, &gpu.zeros([6, 0]).unwrap()).unwrap().x.shape(), [5, 0]);
    assert!(tail(&[3.0, 4.0], 0) == 5.0 && cqrrpt(&a).is_ok(), "all works as before");
}
