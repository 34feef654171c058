//! Small matrices that the CPU factorises: residuals against f64, batches, types, and what is refused.

use support::strided::{Lay, Placed};
use tilewise::sketch::{cholesky, eigh, solve};
use tilewise::{DType, Element, Error, Fill, Gpu, Real, Result, Tensor};

/// The largest rounding of a type, relative.
fn rounding(dtype: DType) -> f64 {
    f64::powi(
        2.0,
        match dtype {
            DType::F16 => -11,
            DType::Bf16 => -8,
            _ => -24,
        },
    )
}

/// A matrix of a batch, row-major.
type Square = (usize, Vec<f64>);

fn at((n, a): &Square, i: usize, j: usize) -> f64 {
    a[i * n + j]
}

/// The batch's matrices as the device has them.
fn matrices<T: Real>(a: &Tensor<T>) -> Vec<Square> {
    let n = a.shape()[a.shape().len() - 1];
    let values: Vec<f64> = a.to_vec().unwrap().into_iter().map(T::to_f64).collect();
    values.chunks(n * n).map(|a| (n, a.to_vec())).collect()
}

/// Symmetric positive definite matrices of this type: G G^T + shift.
fn definite<T: Element>(n: usize, batch: usize, shift: f64) -> Vec<T> {
    let g = Fill::Normal.values::<f32>(batch * n * n, 7);
    let entry = |of: usize, i: usize, j: usize| {
        let row = |i: usize| &g[(of * n + i) * n..(of * n + i + 1) * n];
        let sum: f64 = row(i).iter().zip(row(j)).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        sum / n as f64 + if i == j { shift } else { 0.0 }
    };
    (0..batch)
        .flat_map(|of| (0..n * n).map(move |at| (of, at)))
        .map(|(of, at)| T::from_f64(entry(of, at / n, at % n)))
        .collect()
}

#[test]
fn systems_are_solved_within_their_bound() {
    fn check<T: Real>(gpu: &Gpu) {
        for (case, (n, batch, columns)) in
            [(1, 1, 1), (2, 3, 2), (7, 2, 1), (33, 2, 4), (100, 1, 3)].into_iter().enumerate()
        {
            let a: Vec<T> = Fill::Normal.values(batch * n * n, case as u64);
            let b: Vec<T> = Fill::Normal.values(batch * n * columns, 1 + case as u64);
            let lay = [Lay::Plain, Lay::Gaps, Lay::Odd][case % 3];
            let (a, b) = (
                Placed::new(gpu, &a, &[batch, n, n], lay).tensor,
                Placed::new(gpu, &b, &[batch, n, columns], lay).tensor,
            );
            let x = solve(&a, &b).unwrap();
            assert_eq!(x.shape(), b.shape());
            let (x, b) = (x.to_vec().unwrap(), b.to_vec().unwrap());
            for (of, a) in matrices(&a).iter().enumerate() {
                for (i, j) in (0..n).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                    let x = |k: usize| x[(of * n + k) * columns + j].to_f64();
                    let (mut sum, mut magnitude) = (-b[(of * n + i) * columns + j].to_f64(), 0.0);
                    for k in 0..n {
                        sum += at(a, i, k) * x(k);
                        magnitude += (at(a, i, k) * x(k)).abs();
                    }
                    // The rounding of x, and little more.
                    let bound = rounding(T::DTYPE) * magnitude * 1.01 + 1e-6 * rounding(T::DTYPE);
                    assert!(sum.abs() <= bound, "{} {n} of {batch}: {sum:e}, bound {bound:e}", T::DTYPE);
                }
            }
        }
    }
    let Some(gpu) = support::gpu() else { return };
    support::of_reals!(check, &gpu);
    // A vector for each matrix, and one without a batch.
    let a = gpu.tensor(&[2.0f32, 1.0, 1.0, 3.0, 1.0, 0.0, 0.0, 4.0], [2, 2, 2]).unwrap();
    let b = gpu.tensor(&[3.0f32, 5.0, 7.0, 8.0], [2, 2]).unwrap();
    assert_eq!(solve(&a, &b).unwrap().to_vec().unwrap(), [0.8, 1.4, 7.0, 2.0]);
    let one =
        solve(&a.slice(0, 1..2).unwrap().reshape([2, 2]).unwrap(), &gpu.tensor(&[7.0f32, 8.0], [2]).unwrap());
    assert_eq!(one.unwrap().to_vec().unwrap(), [7.0, 2.0]);
    let none = solve(&gpu.zeros::<f32>([3, 0, 0]).unwrap(), &gpu.zeros::<f32>([3, 0, 2]).unwrap()).unwrap();
    assert_eq!(none.shape(), [3, 0, 2]);
}

/// Elimination by rows alone loses this matrix (Wilkinson): its pivots grow to 2^63, though its condition is small.
#[test]
fn systems_whose_elimination_grows_are_solved() {
    let Some(gpu) = support::gpu() else { return };
    let n = 64;
    let entry = |at: usize| match (at / n, at % n) {
        (_, j) if j == n - 1 => 1.0,
        (i, j) if i == j => 1.0,
        (i, j) if i > j => -1.0,
        _ => 0.0f32,
    };
    let a: Vec<f32> = (0..n * n).map(entry).collect();
    let b: Vec<f32> = (0..n).map(|i| ((37 * i) % 101) as f32 / 128.0).collect();
    let x = solve(&gpu.tensor(&a, [n, n]).unwrap(), &gpu.tensor(&b, [n]).unwrap()).unwrap().to_vec().unwrap();
    for i in 0..n {
        let terms = (0..n).map(|j| f64::from(a[i * n + j]) * f64::from(x[j]));
        let (sum, magnitude) = terms.fold((0.0, 0.0), |(s, m), term| (s + term, m + term.abs()));
        assert!((sum - f64::from(b[i])).abs() <= 1.01 * rounding(DType::F32) * magnitude, "{i}: {sum}");
    }
}

/// More than 128 rows are divided and conquered; the matrix is tiny, and its eigenvalues are known.
#[test]
fn eigenvalues_of_small_matrices_in_large_numbers_of_rows_are_right() {
    let Some(gpu) = support::gpu() else { return };
    let n = 130;
    let entry = |at: usize| match (at / n).abs_diff(at % n) {
        0 => 2e-20,
        1 => -1e-20,
        _ => 0.0f32,
    };
    let a: Vec<f32> = (0..n * n).map(entry).collect();
    let values = eigh(&gpu.tensor(&a, [n, n]).unwrap()).unwrap().values.to_vec().unwrap();
    for (k, value) in values.iter().enumerate() {
        let half = (k + 1) as f64 * std::f64::consts::PI / (2.0 * (n + 1) as f64);
        let want = 4e-20 * half.sin().powi(2);
        assert!((f64::from(*value) - want).abs() < 1e-6 * want, "{k}: {value:e}, not {want:e}");
    }
}

/// Rows and columns in other units are not singular, and an ill-conditioned matrix is solved as far as f64 reaches.
#[test]
fn systems_in_any_unit_and_of_a_large_condition_are_solved() {
    let Some(gpu) = support::gpu() else { return };
    let a = gpu.tensor(&[1e30f32, 1.0, 0.0, 1e-30, 2e-38, 0.0, 0.0, 0.0, 1e-30], [3, 3]).unwrap();
    let b = gpu.tensor(&[1e30f32, 0.0, 3e-30], [3]).unwrap();
    let x = solve(&a, &b).unwrap().to_vec().unwrap();
    assert!(x.iter().all(|x| x.is_finite()) && (x[2] - 3.0).abs() < 1e-6, "{x:?}");
    // Entries 1 / (i + j + 1), whose condition is 5e8 for 7 rows; x is ones, of a right-hand side that is exact.
    let hilbert: Vec<f32> = (0..49).map(|at| 360_360.0 / ((at / 7 + at % 7 + 1) as f32)).collect();
    let sums: Vec<f32> = hilbert.chunks(7).map(|row| row.iter().sum()).collect();
    let [a, b] = [gpu.tensor(&hilbert, [7, 7]).unwrap(), gpu.tensor(&sums, [7]).unwrap()];
    let x = solve(&a, &b).unwrap().to_vec().unwrap();
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-6), "{x:?}");
}

#[test]
fn the_factor_times_its_transpose_is_the_matrix() {
    fn check<T: Real>(gpu: &Gpu) {
        for (n, batch) in [(1, 2), (5, 3), (40, 2), (130, 1)] {
            let a = gpu.tensor(&definite::<T>(n, batch, 0.5), [batch, n, n]).unwrap();
            let l = cholesky(&a.permute(&[0, 2, 1]).unwrap()).unwrap();
            for (a, l) in matrices(&a).iter().zip(matrices(&l)) {
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let product: f64 = (0..n).map(|k| at(&l, i, k) * at(&l, j, k)).sum();
                    let a_ij = 0.5 * (at(a, i, j) + at(a, j, i));
                    let bound = 2.1 * rounding(T::DTYPE) * (at(a, i, i) * at(a, j, j)).sqrt();
                    assert!((product - a_ij).abs() <= bound, "{} {n}: {product} {a_ij}", T::DTYPE);
                    assert!(j <= i || at(&l, i, j) == 0.0);
                }
            }
        }
    }
    let Some(gpu) = support::gpu() else { return };
    support::of_reals!(check, &gpu);
    assert_eq!(cholesky(&gpu.zeros::<f32>([0, 3, 3]).unwrap()).unwrap().shape(), [0, 3, 3]);
}

#[test]
fn eigenvectors_are_orthonormal_and_give_the_matrix_back() {
    fn check<T: Real>(gpu: &Gpu) {
        for (n, batch) in [(1, 2), (6, 3), (50, 2)] {
            let a = gpu.tensor(&definite::<T>(n, batch, -0.5), [batch, n, n]).unwrap();
            let found = eigh(&a).unwrap();
            assert_eq!(found.values.shape(), [batch, n]);
            let values: Vec<f64> = found.values.to_vec().unwrap().into_iter().map(T::to_f64).collect();
            let u = rounding(T::DTYPE);
            for (of, (a, v)) in matrices(&a).iter().zip(matrices(&found.vectors)).enumerate() {
                let values = &values[of * n..(of + 1) * n];
                assert!(values.is_sorted(), "{values:?}");
                let norm = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let along: f64 = (0..n).map(|k| at(&v, k, i) * at(&v, k, j)).sum();
                    assert!((along - f64::from(u8::from(i == j))).abs() <= 2.1 * u, "{} {along}", T::DTYPE);
                    let back: f64 = (0..n).map(|k| at(&v, i, k) * values[k] * at(&v, j, k)).sum();
                    let a_ij = 0.5 * (at(a, i, j) + at(a, j, i));
                    assert!((back - a_ij).abs() <= 3.1 * u * norm, "{} {n}: {back} {a_ij}", T::DTYPE);
                }
            }
        }
    }
    let Some(gpu) = support::gpu() else { return };
    support::of_reals!(check, &gpu);
    let diagonal = gpu.tensor(&[3.0f32, 0.0, 0.0, -1.0], [2, 2]).unwrap();
    assert_eq!(eigh(&diagonal).unwrap().values.to_vec().unwrap(), [-1.0, 3.0]);
    let none = eigh(&gpu.zeros::<f32>([2, 0, 0]).unwrap()).unwrap();
    assert_eq!((none.values.shape(), none.vectors.shape()), (&[2, 0][..], &[2, 0, 0][..]));
}

fn says<R>(result: Result<R>, words: &str) {
    let Err(error) = result else { panic!("no error: {words}") };
    assert_eq!(error.to_string(), words);
}

#[test]
fn what_cannot_be_factorised_is_an_error_with_the_matrix_and_the_value() {
    let Some(gpu) = support::gpu() else { return };
    let of = |values: &[f32], shape: &[usize]| gpu.tensor(values, shape).unwrap();
    let ones = of(&[1.0; 4], &[2, 2]);
    let batch = of(&[2.0, 0.0, 0.0, 2.0, 1.0, 2.0, 2.0, 4.0], &[2, 2, 2]);
    let singular = |solved: Result<Tensor<f32>>, which: &str| {
        support::failure::says(solved, &[&format!("solve: {which}: it is singular: pivot ")]);
    };
    singular(solve(&ones, &of(&[1.0; 2], &[2])), "the matrix");
    singular(solve(&batch, &batch), "matrix [1]");
    // The third row is the sum of the others, and the first two differ in f32's last bits.
    let e = f32::powi(2.0, -19);
    let sum = of(&[1.0, 1.0 + e, 1.0, 2.0, 2.0 + e / 2.0, -1.0, 3.0, 3.0 + 1.5 * e, 0.0], &[3, 3]);
    singular(solve(&sum, &of(&[1.0, 0.0, 0.0], &[3])), "the matrix");
    // Its exact pivot is 0; in f64 it is a rounding error above.
    assert!(cholesky(&of(&[2.0; 4], &[2, 2])).is_err());
    // Entries that differ by little of the largest entry, but not of their own rows.
    let skew = of(&[4_194_304.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, -1.0, 2.0], &[3, 3]);
    assert!(cholesky(&skew).unwrap_err().to_string().contains("it is not symmetric"));
    says(cholesky(&batch), "cholesky: matrix [1]: it is not positive definite: its pivot 1 is 0e0");
    says(
        cholesky(&of(&[1.0, 2.0, 2.0, 1.0], &[2, 2])),
        "cholesky: the matrix: it is not positive definite: its pivot 1 is -3e0",
    );
    let skew = of(&[1.0, 0.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0], &[2, 1, 2, 2]);
    says(cholesky(&skew), "cholesky: matrix [1, 0]: it is not symmetric: 2 at [1, 0] and 3 at [0, 1]");
    says(eigh(&skew), "eigh: matrix [1, 0]: it is not symmetric: 2 at [1, 0] and 3 at [0, 1]");
    let nan = of(&[1.0, 0.0, 0.0, f32::NAN], &[2, 2]);
    says(eigh(&nan), "eigh: the matrix: it is NaN at [1, 1]");
    says(cholesky(&nan), "cholesky: the matrix: it is NaN at [1, 1]");
    says(solve(&ones, &of(&[1.0, f32::INFINITY], &[2])), "solve: the right-hand side: it is inf at [1]");
    says(solve(&nan, &of(&[1.0; 2], &[2])), "solve: the matrix: it is NaN at [1, 1]");
    let rule = "the operand must be a square matrix, or a batch of them";
    says(solve(&of(&[1.0; 6], &[2, 3]), &of(&[1.0; 2], &[2])), &format!("solve: {rule}; got [2, 3]"));
    says(eigh(&of(&[1.0; 3], &[3])), &format!("eigh: {rule}; got [3]"));
    says(cholesky(&of(&[1.0; 6], &[1, 2, 3])), &format!("cholesky: {rule}; got [1, 2, 3]"));
    says(
        solve(&batch, &of(&[1.0; 3], &[3])),
        "solve: the right-hand side must have the batch and the rows of the matrix; got [2, 2, 2] and [3]",
    );
    let elsewhere = support::noop().tensor(&[1.0f32; 2], [2]).unwrap();
    assert!(matches!(solve(&ones, &elsewhere), Err(Error::Gpu { op: "solve", .. })));
    let large = gpu.eye::<f32>([1025, 1025]).unwrap();
    let limit = eigh(&large).map(drop).unwrap_err();
    assert!(matches!(limit, Error::Limit { op: "eigh", needed: 1025, allowed: 1024, .. }), "{limit}");
    assert!(matches!(cholesky(&large), Err(Error::Limit { op: "cholesky", .. })));
    // What differs by roundings counts as symmetric.
    assert!(cholesky(&of(&[1.0, 0.5, 0.5 + f32::EPSILON, 1.0], &[2, 2])).is_ok());
}
