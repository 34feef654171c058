//! What Panther's own code computed, file by file: those of `tests/data/panther`, and of the folder that
//! `TILEWISE_ORACLES` names. A file's name says what it is; one that is of no known kind fails.

use crate::support;
use crate::support::safetensors::Safetensors;
use faer::Mat;
use std::path::{Path, PathBuf};
use tilewise::sketch::{Cqrrpt, Given, Rsvd};
use tilewise::{Gpu, Tensor, reference};

/// Kinds of files by the start of their names: what checks them. Of layers, convolutions and attention there is nothing
/// here to check.
type Check = fn(&Gpu, &Safetensors, &str);
const KINDS: [(&str, Option<Check>); 7] = [
    ("sketches", Some(sketches)),
    ("rsvd_", Some(rsvd)),
    ("cqrrpt_", Some(cqrrpt)),
    ("sklinear_", None),
    ("skconv2d_", None),
    ("randmha_", None),
    ("sinspe", None),
];

fn files() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/panther");
    let named = std::env::var_os("TILEWISE_ORACLES").map(PathBuf::from);
    let folders = std::iter::once(own).chain(named);
    let files = folders.flat_map(|folder| {
        let read = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        read.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    });
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "safetensors")).collect();
    files.sort();
    files
}

#[test]
fn oracles() {
    let Some(gpu) = support::gpu() else { return };
    let mut checked = Vec::new();
    for path in files() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match KINDS.iter().find(|(kind, _)| name.starts_with(kind)) {
            Some((_, Some(check))) => {
                check(&gpu, &Safetensors::read(&path), &name);
                checked.push(name);
            }
            Some((_, None)) => println!("not of sketches: {name}"),
            None => panic!("{name} is of no known kind"),
        }
    }
    println!("checked: {checked:?}");
    for kind in ["sketches", "rsvd_", "cqrrpt_"] {
        assert!(checked.iter().any(|name| name.starts_with(kind)), "no file of {kind}");
    }
}

fn upload(gpu: &Gpu, file: &Safetensors, name: &str) -> Tensor<f32> {
    let (shape, values) = file.reals(name);
    let values: Vec<f32> = values.into_iter().map(<f32 as tilewise::Element>::from_f64).collect();
    gpu.tensor(&values, shape).unwrap()
}

/// Operators that Panther made, applied here: within the bound of a product.
fn sketches(gpu: &Gpu, file: &Safetensors, name: &str) {
    let x = upload(gpu, file, "X");
    let kinds =
        ["gaussian", "count", "sjlt3", "sign", "dense_gauss", "dense_uniform", "sparse_short", "sparse_long"];
    for kind in kinds {
        let s = Given::new(upload(gpu, file, &format!("S_{kind}"))).unwrap();
        let (_, want) = file.reals(&format!("SX_{kind}"));
        within(
            &s.left(&x).unwrap(),
            &want,
            &product_bound(file, &format!("S_{kind}"), "X"),
            &format!("{name}: {kind}"),
        );
    }
    let s = Given::new(upload(gpu, file, "t3_axis1_op")).unwrap();
    let t3 = upload(gpu, file, "t3");
    let (_, want) = file.reals("t3_axis1_out");
    let found = s.apply(&t3, 1).unwrap();
    assert_eq!(found.shape(), [4, 6, 5]);
    // Theirs is in f32 itself: twice the bound of ours.
    let ([_, inner], most) =
        ([6, 10], |name: &str| file.reals(name).1.iter().fold(0.0f64, |m, x| m.max(x.abs())));
    let bound = 2.0 * reference::gamma(inner) * inner as f64 * most("t3_axis1_op") * most("t3");
    within(&found, &want, &vec![bound; want.len()], &format!("{name}: along axis 1"));
    for n in [16usize, 64, 256] {
        let [x, signs, want] = ["x", "signs", "y64"].map(|part| file.reals(&format!("srht{n}_{part}")).1);
        let mut signed: Vec<f64> = x.iter().zip(&signs).map(|(x, sign)| x * sign).collect();
        transform(&mut signed);
        for (row, want) in file.integers(&format!("srht{n}_idx")).into_iter().zip(want) {
            let found = signed[usize::try_from(row).unwrap()] / (n as f64).sqrt();
            assert!((found - want).abs() < 1e-12, "{name}: srht{n}, row {row}");
        }
    }
}

/// Walsh and Hadamard's transform, in natural order.
fn transform(x: &mut [f64]) {
    let mut half = 1;
    while half < x.len() {
        for block in x.chunks_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

fn product_bound(file: &Safetensors, a: &str, b: &str) -> Vec<f64> {
    let ((shape, a), (of_b, b)) = (file.reals(a), file.reals(b));
    let [m, k, n] = [shape[0], shape[1], of_b[1]];
    let magnitude = |i: usize, j: usize| (0..k).map(|p| (a[i * k + p] * b[p * n + j]).abs()).sum::<f64>();
    (0..m * n).map(|at| reference::gamma(k) * magnitude(at / n, at % n)).collect()
}

fn within(found: &Tensor<f32>, want: &[f64], bound: &[f64], what: &str) {
    let found = found.to_vec().unwrap();
    assert_eq!(found.len(), want.len(), "{what}");
    for (i, (&found, want)) in found.iter().zip(want).enumerate() {
        assert!((f64::from(found) - want).abs() <= bound[i], "{what} [{i}]: {found}, not {want}");
    }
}

fn matrix(file: &Safetensors, name: &str) -> Mat<f64> {
    let (shape, values) = file.reals(name);
    Mat::from_fn(shape[0], shape[1], |i, j| values[i * shape[1] + j])
}

fn read(tensor: &Tensor<f32>) -> Mat<f64> {
    let (values, cols) = (tensor.to_vec().unwrap(), tensor.shape()[1]);
    Mat::from_fn(tensor.shape()[0], cols, |i, j| f64::from(values[i * cols + j]))
}

/// ||A - U S V^T|| at most 1.05 times the worst of Panther's twenty seeds, and what f32 leaves.
fn rsvd(gpu: &Gpu, file: &Safetensors, name: &str) {
    let a = matrix(file, "A");
    let (shape, stats) = file.reals("stats20");
    let worst = stats.chunks(shape[1]).map(|run| run[0]).fold(0.0, f64::max);
    let rank = file.reals("S_seed0").1.len();
    for seed in 0..5 {
        let svd = Rsvd::new(&upload(gpu, file, "A")).rank(rank).seed(seed).run().unwrap();
        let (u, v) = (read(&svd.u), read(&svd.v));
        let us = Mat::from_fn(u.nrows(), rank, |i, j| u[(i, j)] * svd.s[j]);
        let error = (&a - us * v.transpose()).norm_l2();
        assert!(
            error <= 1.05 * worst + 1e-6 * a.norm_l2(),
            "{name}, seed {seed}: {error:e}, theirs {worst:e}"
        );
        for (i, (found, sigma)) in svd.s.iter().zip(file.reals("sigma").1).enumerate() {
            assert!((found - sigma).abs() <= 1.05 * worst + 1e-6 * a.norm_l2(), "{name}: value {i}");
        }
    }
}

/// In f32 on the device: residual and orthogonality at most 1e-5, and the rank that f32 can see. (The f64 reference for
/// their very sketch is checked in `factor_qr.rs`.)
fn cqrrpt(gpu: &Gpu, file: &Safetensors, name: &str) {
    let a = matrix(file, "M");
    let found = Cqrrpt::new(&upload(gpu, file, "M")).run().unwrap();
    let (q, r) = (read(&found.q), read(&found.r));
    let permuted = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, found.pivots[j])]);
    let residual = (permuted - &q * r).norm_l2() / a.norm_l2();
    let off = (q.transpose() * &q - Mat::<f64>::identity(found.rank, found.rank)).norm_l2();
    assert!(residual <= 1e-5 && off <= 1e-5, "{name}: residual {residual:e}, off orthonormal {off:e}");
    let sigma = file.reals("sigma").1;
    let seen = sigma.iter().filter(|s| **s > 1e-4 * sigma[0]).count();
    assert!((seen..=sigma.len()).contains(&found.rank), "{name}: rank {}, at least {seen}", found.rank);
}
