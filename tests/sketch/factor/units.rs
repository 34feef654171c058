//! Columns in other units: what is small beside another column is not dependent on it.

use crate::spectrum::{normal, off_orthonormal, place, read};
use faer::Mat;
use tilewise::Element;
use tilewise::sketch::{Lstsq, cqrrpt, lstsq};

const UNITS: [f64; 9] = [1e-18, 1e-9, 1e-6, 1.0, 1e3, 1e4, 1e6, 1e9, 1e18];

#[test]
fn a_line_is_fitted_in_every_unit() {
    let Some(gpu) = support::gpu() else { return };
    let b: Vec<f32> = (0..500u16).map(|i| 3.0 + 2.0 * f32::from(i)).collect();
    let b = gpu.tensor(&b, [500]).unwrap();
    for unit in UNITS {
        let (a, exact) =
            place(&gpu, &Mat::from_fn(500, 2, |i, j| if j == 0 { 1.0 } else { i as f64 * unit }));
        let found = lstsq(&a, &b).unwrap();
        let x: Vec<f64> = found.x.to_vec().unwrap().into_iter().map(f64::from).collect();
        assert_eq!(found.rank, 2, "unit {unit:e}");
        assert!((x[0] - 3.0).abs() <= 3e-3 && (x[1] * unit - 2.0).abs() <= 1e-5, "unit {unit:e}: {x:?}");
        assert!(found.residuals[0] <= 2e-2, "unit {unit:e}: {:?}", found.residuals);
        // A column that is the sum of both others in those units depends on them.
        let three = Mat::from_fn(500, 3, |i, j| if j < 2 { exact[(i, j)] } else { i as f64 * unit * 0.5 });
        assert_eq!(lstsq(&place(&gpu, &three).0, &b).unwrap().rank, 2, "unit {unit:e}");
        let qr = cqrrpt(&a).unwrap();
        assert_eq!(qr.rank, 2, "unit {unit:e}");
        assert!(off_orthonormal(&qr.q) <= 1e-5, "unit {unit:e}");
        let back = read(&qr.q) * read(&qr.r);
        for (at, &column) in qr.pivots.iter().enumerate() {
            let off = (0..500).map(|i| (back[(i, at)] - exact[(i, column)]).powi(2)).sum::<f64>().sqrt();
            assert!(off <= 1e-5 * exact.col(column).norm_l2(), "unit {unit:e}, column {column}: {off:e}");
        }
    }
}

#[test]
fn the_rank_is_that_of_columns_in_all_units() {
    let Some(gpu) = support::gpu() else { return };
    // Eight independent columns, and twelve combinations of them; each in a unit of its own.
    let product = normal([700, 8], 1) * normal([8, 20], 2);
    let scaled = Mat::from_fn(700, 20, |i, j| product[(i, j)] * 10f64.powf((j * 7 % 20) as f64 - 10.0));
    let (a, exact) = place(&gpu, &scaled);
    let qr = cqrrpt(&a).unwrap();
    assert_eq!(qr.rank, 8);
    assert!(off_orthonormal(&qr.q) <= 1e-5);
    let back = read(&qr.q) * read(&qr.r);
    for (at, &column) in qr.pivots.iter().enumerate() {
        let off = (0..700).map(|i| (back[(i, at)] - exact[(i, column)]).powi(2)).sum::<f64>().sqrt();
        assert!(off <= 3e-5 * exact.col(column).norm_l2(), "column {column}: {off:e}");
    }
    let (b, _) = place(&gpu, &normal([700, 2], 3));
    assert_eq!(lstsq(&a, &b).unwrap().rank, 8);
}

#[test]
fn the_least_norm_is_that_of_the_units_that_were_given() {
    let Some(gpu) = support::gpu() else { return };
    // Of x with (1, 100) x = 3 in every row, the least is (3, 300) / 10001.
    let a = gpu.tensor(&[[1.0f32, 100.0]; 40].concat(), [40, 2]).unwrap();
    let b = gpu.tensor(&[3.0f32; 40], [40]).unwrap();
    let found = Lstsq::new(&a, &b).run().unwrap();
    let x = found.x.to_vec().unwrap();
    assert_eq!(found.rank, 1);
    for (x, want) in x.iter().zip([3.0 / 10001.0, 300.0 / 10001.0]) {
        assert!((f64::from(*x) / want - 1.0).abs() <= 1e-5, "{x}, not {want}");
    }
    // Fewer rows than columns, in units of their own.
    let wide = normal([30, 50], 4);
    let wide = Mat::from_fn(30, 50, |i, j| wide[(i, j)] * 10f64.powf((j % 5) as f64 - 2.0));
    let ((a, exact), (b, exact_b)) = (place(&gpu, &wide), place(&gpu, &normal([30, 1], 5)));
    let svd = exact.thin_svd().unwrap();
    let inverse = Mat::from_fn(50, 30, |i, j| svd.V()[(i, j)] / svd.S().column_vector()[j]);
    let want = inverse * (svd.U().transpose() * &exact_b);
    let found = lstsq(&a, &b).unwrap();
    let off = (read(&found.x) - &want).norm_l2() / want.norm_l2();
    assert!(found.rank == 30 && off <= 1e-4, "rank {}, off by {off:e}", found.rank);
}

/// A device may flush numbers below the smallest normal one, so a column of them, relative to the largest, counts as one of zeros.
#[test]
fn columns_of_subnormal_size_count_as_zeros() {
    let Some(gpu) = support::gpu() else { return };
    let random = normal([700, 4], 1);
    for (what, small) in [
        ("subnormal", [1e-40, 0.0]),
        ("the smallest", [1e-44, 0.0]),
        // One over what the other column leaves of the second is beyond f32.
        ("close to one another", [1e-35, 1e-4]),
    ] {
        // The first two columns depend on one another.
        let (a, exact) = place(
            &gpu,
            &Mat::from_fn(700, 4, |i, j| match j {
                0 => random[(i, 0)],
                1 => 2.0 * random[(i, 0)],
                2 => small[0] * random[(i, 1)],
                _ => small[0] * (random[(i, 1)] + small[1] * random[(i, 2)]),
            }),
        );
        let qr = cqrrpt(&a).unwrap();
        let of_normal_size = small[0] > 1e-37;
        assert!(qr.rank == 1 || of_normal_size && qr.rank <= 3, "{what}: rank {}", qr.rank);
        let (q, r) = (read(&qr.q), read(&qr.r));
        assert!(off_orthonormal(&qr.q) <= 1e-5, "{what}");
        let back = q * r;
        for (at, &column) in qr.pivots.iter().enumerate().filter(|&(_, &column)| column < 2 || of_normal_size)
        {
            let off = (0..700).map(|i| (back[(i, at)] - exact[(i, column)]).powi(2)).sum::<f64>().sqrt();
            assert!(off <= 1e-3 * exact.col(column).norm_l2(), "{what}, column {column}: {off:e}");
        }
        if of_normal_size {
            continue; // the solution may be beyond f32
        }
        let b: Vec<f32> = (0..700).map(|i| f32::from_f64(3.0 * random[(i, 0)])).collect();
        let found = lstsq(&a, &gpu.tensor(&b, [700]).unwrap()).unwrap();
        let x = found.x.to_vec().unwrap();
        assert!(x.iter().all(|x| x.is_finite()), "{what}: {x:?}");
        assert!((x[0] + 2.0 * x[1] - 3.0).abs() <= 1e-4, "{what}: {x:?}");
    }
}
