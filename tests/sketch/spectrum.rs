//! Matrices whose singular values are known, and what factors of them should be, in f64.

use faer::Mat;
use tilewise::sketch::{Scaling, Sketch, SketchKind};
use tilewise::{Element, Gpu, Tensor};

/// Normal entries.
pub(crate) fn normal(shape: [usize; 2], seed: u64) -> Mat<f64> {
    let [m, n] = shape;
    let entries = Sketch::new(SketchKind::Gaussian, shape, seed).unwrap().scaled(Scaling::Unscaled).to_vec();
    Mat::from_fn(m, n, |i, j| f64::from(entries[i * n + j]))
}

/// A matrix with these singular values, in random directions.
pub(crate) fn with_spectrum([m, n]: [usize; 2], s: &[f64], seed: u64) -> Mat<f64> {
    let [u, v] = [(m, 2 * seed), (n, 2 * seed + 1)]
        .map(|(rows, seed)| normal([rows, s.len()], 1000 + seed).qr().compute_thin_Q());
    let us = Mat::from_fn(m, s.len(), |i, j| u[(i, j)] * s[j]);
    us * v.transpose()
}

/// The matrix on a device, and what it is there: rounded to f32.
pub(crate) fn place(gpu: &Gpu, a: &Mat<f64>) -> (Tensor<f32>, Mat<f64>) {
    let (m, n) = a.shape();
    let values: Vec<f32> = (0..m * n).map(|at| f32::from_f64(a[(at / n, at % n)])).collect();
    (gpu.tensor(&values, [m, n]).unwrap(), Mat::from_fn(m, n, |i, j| f64::from(values[i * n + j])))
}

/// A tensor in f64.
pub(crate) fn read(a: &Tensor<f32>) -> Mat<f64> {
    let [m, n] = *a.shape() else { panic!("{a:?} is no matrix") };
    let values = a.to_vec().unwrap();
    Mat::from_fn(m, n, |i, j| f64::from(values[i * n + j]))
}

/// $\|Q^TQ - I\|_F$.
pub(crate) fn off_orthonormal(q: &Tensor<f32>) -> f64 {
    let q = read(q);
    (q.transpose() * &q - Mat::<f64>::identity(q.ncols(), q.ncols())).norm_l2()
}

/// The norm of what is behind the first singular values.
pub(crate) fn tail(s: &[f64], rank: usize) -> f64 {
    s[rank..].iter().map(|s| s * s).sum::<f64>().sqrt()
}

/// Tells a figure of the book's table: `cargo test --release --test sketch factor:: -- --nocapture` shows all of them, of
/// which the worst counts.
pub(crate) fn figure(name: &str, value: f64) {
    println!("figure {name}: {value:.3e}");
}
