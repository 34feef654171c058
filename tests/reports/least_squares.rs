//! Least squares of rectangular and deficient matrices.

use crate::{assert_near, wide};
use tilewise::Element;
use tilewise::sketch::lstsq;

/// sarah-quinones/faer-rs#188 (2025), pytorch/pytorch#44378, #125110: a rectangular problem fails, and a deficient one has no
/// solution.
#[test]
fn rectangular_and_deficient_problems_have_the_shortest_solution() {
    let Some(gpu) = support::gpu() else { return };
    // Columns 1, t and t^2: the coefficients are found as they are.
    let (m, n) = (5, 3);
    let a: Vec<f32> = (0..m).flat_map(|i| [1.0, i as f32, (i * i) as f32]).collect();
    let coefficients = [[2.0, -1.0, 0.5], [0.0, 3.0, -0.25]];
    let value = |i: usize, c: &[f64; 3]| c[0] + c[1] * i as f64 + c[2] * (i * i) as f64;
    let b: Vec<f32> =
        (0..m).flat_map(|i| coefficients.each_ref().map(|c| f32::from_f64(value(i, c)))).collect();
    let solved = lstsq(&gpu.tensor(&a, [m, n]).unwrap(), &gpu.tensor(&b, [m, 2]).unwrap()).unwrap();
    let want: Vec<f64> = (0..n).flat_map(|j| coefficients.each_ref().map(|c| c[j])).collect();
    assert_eq!((solved.rank, solved.x.shape()), (3, &[3, 2][..]));
    assert_near(&wide(&solved.x.to_vec().unwrap()), &want, |_| 1e-4, "a parabola");
    assert!(solved.residuals.iter().all(|residual| *residual < 1e-4), "{:?}", solved.residuals);

    // Rank 1 of 3: A = u v^T, so the shortest solution is v (u . b) / (|u|^2 |v|^2).
    let (u, v) = ([1.0f32, 2.0, 3.0, 4.0, 5.0], [1.0f32, -2.0, 2.0]);
    let a: Vec<f32> = u.iter().flat_map(|x| v.map(|y| x * y)).collect();
    let b = [1.0f32, 0.0, 2.0, -1.0, 3.0];
    let solved = lstsq(&gpu.tensor(&a, [5, 3]).unwrap(), &gpu.tensor(&b, [5]).unwrap()).unwrap();
    let dot: f64 = u.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(y)).sum();
    let factor = dot / (55.0 * 9.0);
    let want = v.map(|y| f64::from(y) * factor);
    assert_eq!(solved.rank, 1);
    assert_near(&wide(&solved.x.to_vec().unwrap()), &want, |_| 1e-5, "rank 1");

    let solved = lstsq(&gpu.zeros([5, 3]).unwrap(), &gpu.tensor(&b, [5]).unwrap()).unwrap();
    assert_eq!((solved.rank, solved.x.to_vec().unwrap()), (0, vec![0.0; 3]));

    // Wide: A = (1, 2, 2), so the shortest solution of A x = 9 is (1, 2, 2).
    let a = gpu.tensor(&[1.0f32, 2.0, 2.0], [1, 3]).unwrap();
    let solved = lstsq(&a, &gpu.tensor(&[9.0f32], [1]).unwrap()).unwrap();
    assert_eq!(solved.rank, 1);
    assert_near(&wide(&solved.x.to_vec().unwrap()), &[1.0, 2.0, 2.0], |_| 1e-5, "wide");
}
