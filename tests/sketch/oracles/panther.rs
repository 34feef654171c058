//! What Panther's own code computed, file by file: those of `tests/data/panther`, and of the folder that
//! `TILEWISE_ORACLES` names. A file's name says what it is; one that is of no known kind fails.

use super::{convolution, layer};
use crate::spectrum::{figure, read};
use faer::Mat;
use support::safetensors::Safetensors;
use support::sketches::signs_and_rows;
use tilewise::reference::{self, cqrrpt_core};
use tilewise::sketch::{Cqrrpt, ExplicitSketch, Rsvd, Scaling, Sketch, SketchKind};
use tilewise::{Element, Gpu, Tensor};

/// Kinds of files by the start of their names: what checks them. Of attention there is nothing here to check.
type Check = fn(&Gpu, &Safetensors, &str);
const KINDS: [(&str, Option<Check>); 7] = [
    ("sketches", Some(sketches)),
    ("rsvd_", Some(rsvd)),
    ("cqrrpt_", Some(cqrrpt)),
    ("sklinear_", Some(layer::sklinear)),
    ("skconv2d_", Some(convolution::skconv2d)),
    ("randmha_", None),
    ("sinspe", None),
];

#[test]
fn oracles() {
    let Some(gpu) = support::gpu() else { return };
    let mut checked = Vec::new();
    for path in support::oracles::files("panther", &["safetensors"]) {
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
    for kind in ["sketches", "rsvd_", "cqrrpt_", "sklinear_", "skconv2d_"] {
        assert!(checked.iter().any(|name| name.starts_with(kind)), "no file of {kind}");
    }
}

fn upload(gpu: &Gpu, file: &Safetensors, name: &str) -> Tensor<f32> {
    let (shape, values) = file.reals(name);
    let values: Vec<f32> = values.into_iter().map(f32::from_f64).collect();
    gpu.tensor(&values, shape).unwrap()
}

/// Operators that Panther made, applied here: within the bound of a product. `S_NAME` is applied to `X`,
/// `NAME_axisI_op` along that axis of `NAME`; `srhtN_` are transforms of n numbers.
fn sketches(gpu: &Gpu, file: &Safetensors, name: &str) {
    let mut checked = 0;
    for tensor in file.names() {
        if let Some(kind) = tensor.strip_prefix("S_") {
            let s = ExplicitSketch::new(upload(gpu, file, &tensor)).unwrap();
            let (want, bound) = (file.reals(&format!("SX_{kind}")).1, product_bound(file, &tensor, "X"));
            within(&s.left(&upload(gpu, file, "X")).unwrap(), &want, &bound, &format!("{name}: {kind}"));
        } else if let Some((of, axis)) = tensor.strip_suffix("_op").and_then(|t| t.split_once("_axis")) {
            along(gpu, file, name, of, axis.parse().unwrap());
        } else if let Some(transform) = tensor.strip_suffix("_idx") {
            hadamard(gpu, file, &format!("{name}: {transform}"), transform);
        } else {
            continue;
        }
        checked += 1;
    }
    assert!(checked > 0, "{name} has no operator");
}

fn along(gpu: &Gpu, file: &Safetensors, name: &str, of: &str, axis: usize) {
    let [operator, result] = ["op", "out"].map(|part| format!("{of}_axis{axis}_{part}"));
    let s = ExplicitSketch::new(upload(gpu, file, &operator)).unwrap();
    let (shape, want) = file.reals(&result);
    let found = s.apply(&upload(gpu, file, of), axis).unwrap();
    assert_eq!(found.shape(), shape, "{name}: {result}");
    // Theirs is in f32 itself: twice the bound of ours.
    let most = |name: &str| file.reals(name).1.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let inner = s.shape()[1];
    let bound = 2.0 * reference::gamma(inner) * inner as f64 * most(&operator) * most(of);
    within(&found, &want, &vec![bound; want.len()], &format!("{name}: {result}"));
}

/// Panther's transform by our kernel: all rows of an operator of ours, of the operand with both operators' signs.
fn hadamard(gpu: &Gpu, file: &Safetensors, what: &str, transform: &str) {
    let [x, signs, want] = ["x", "signs", "y64"].map(|part| file.reals(&format!("{transform}_{part}")).1);
    let ours = Sketch::new(SketchKind::Hadamard, [x.len(), x.len()], 5).unwrap().scaled(Scaling::Orthonormal);
    let (own, rows) = signs_and_rows(&ours);
    let signed: Vec<f32> = (0..x.len()).map(|i| f32::from_f64(x[i] * signs[i] * own[i])).collect();
    let y = ours.apply(&gpu.tensor(&signed, [x.len()]).unwrap(), 0).unwrap().to_vec().unwrap();
    let levels = x.len().trailing_zeros() as usize;
    let sum: f64 = x.iter().map(|x| x.abs()).sum();
    // The operand is rounded to f32 as well.
    let bound = reference::gamma(levels + 3) * sum / (x.len() as f64).sqrt();
    let indices = file.integers(&format!("{transform}_idx"));
    assert_eq!(indices.len(), want.len(), "{what}");
    for (index, want) in indices.into_iter().zip(want) {
        let at = rows.iter().position(|&row| row as i64 == index).unwrap();
        assert!((f64::from(y[at]) - want).abs() <= bound, "{what}, row {index}: {}, not {want}", y[at]);
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
        figure("rsvd residual over Panther's worst", error / (worst + 1e-6 * a.norm_l2()));
        assert!(
            error <= 1.05 * worst + 1e-6 * a.norm_l2(),
            "{name}, seed {seed}: {error:e}, theirs {worst:e}"
        );
        for (i, (found, sigma)) in svd.s.iter().zip(file.reals("sigma").1).enumerate() {
            assert!((found - sigma).abs() <= 1.05 * worst + 1e-6 * a.norm_l2(), "{name}: value {i}");
        }
    }
}

/// How much longer the column was that was taken in each step of a pivoted QR than any other, relative to it.
fn leads(r: &Mat<f64>) -> Vec<f64> {
    let length = |i: usize, j: usize| (i..r.nrows()).map(|p| r[(p, j)].powi(2)).sum::<f64>().sqrt();
    let other = |i: usize| (i + 1..r.ncols()).map(|j| length(i, j)).fold(0.0, f64::max);
    (0..r.nrows().min(r.ncols())).map(|i| 1.0 - other(i) / r[(i, i)].abs()).collect()
}

/// Whether rows of R are those of the other but for their signs.
pub(crate) fn assert_rows_agree(r: &[f64], want: &[f64], n: usize, tolerance: f64, what: &str) {
    for (i, (row, want)) in r.chunks(n).zip(want.chunks(n)).enumerate() {
        let sign = if row[i] * want[i] < 0.0 { -1.0 } else { 1.0 };
        let off = row.iter().zip(want).map(|(x, y)| (x * sign - y).abs()).fold(0.0, f64::max);
        assert!(off <= tolerance * want[i].abs().max(want[0].abs()), "{what}, row {i}: off by {off:e}");
    }
}

fn cqrrpt(gpu: &Gpu, file: &Safetensors, name: &str) {
    let (a, s) = (matrix(file, "M"), matrix(file, "S"));
    let pivots: Vec<usize> =
        file.integers("J").into_iter().map(|pivot| usize::try_from(pivot).unwrap()).collect();
    by_the_reference(file, &a, &pivots, name);
    // In f32 on the device, of their sketch and of our own.
    let on_device = upload(gpu, file, "M");
    let operator = ExplicitSketch::new(upload(gpu, file, "S")).unwrap();
    let theirs = Cqrrpt::new(&on_device).explicit(&operator).run().unwrap();
    let sketched = (&s * &a).col_piv_qr();
    let triangle = sketched.thin_R().to_owned();
    // From a step on in which two columns are about as long, either order is right.
    let sure = leads(&triangle).iter().take_while(|&&lead| lead > 1e-4).count().min(theirs.rank);
    assert_eq!(theirs.pivots[..sure], pivots[..sure], "{name}: the first {sure} pivots");
    for (found, whose) in [(&theirs, "their sketch"), (&Cqrrpt::new(&on_device).run().unwrap(), "our sketch")]
    {
        let (q, r) = (read(&found.q), read(&found.r));
        let permuted = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, found.pivots[j])]);
        let residual = (permuted - &q * r).norm_l2() / a.norm_l2();
        let off = (q.transpose() * &q - Mat::<f64>::identity(found.rank, found.rank)).norm_l2();
        let errors = format!("{name}, {whose}: residual {residual:e}, off orthonormal {off:e}");
        println!("{errors}, rank {}, {sure} pivots sure", found.rank);
        assert!(residual <= 1e-5 && off <= 1e-5, "{errors}");
        // What f32 can see: entries that are not about the tolerance of 1e-6.
        let above = |limit: f64| {
            let sigma = file.reals("sigma").1;
            sigma.iter().filter(|&&s| s > limit * sigma[0]).count()
        };
        assert!((above(1e-5)..=above(1e-7)).contains(&found.rank), "{name}, {whose}: rank {}", found.rank);
    }
}

/// In f64, of their sketch: their factors, and the bounds of the vectors' README.
fn by_the_reference(file: &Safetensors, a: &Mat<f64>, pivots: &[usize], name: &str) {
    let (m, n) = a.shape();
    let (shape, s) = file.reals("S");
    let found = cqrrpt_core(&file.reals("M").1, &s, [m, n, shape[0]], 1e-12);
    let rank = found.rank;
    assert_eq!(file.reals("R").0, [rank, n], "{name}");
    assert_eq!(found.pivots[..rank], pivots[..rank], "{name}");
    assert_rows_agree(&found.r, &file.reals("R").1, n, 1e-11, name);
    let (_, theirs) = file.reals("Q");
    for j in 0..rank {
        let dot: f64 = (0..m).map(|i| found.q[i * rank + j] * theirs[i * rank + j]).sum();
        assert!((dot.abs() - 1.0).abs() < 1e-9, "{name}, column {j}: {dot}");
    }
    let q = Mat::from_fn(m, rank, |i, j| found.q[i * rank + j]);
    let r = Mat::from_fn(rank, n, |i, j| found.r[i * n + j]);
    let permuted = Mat::from_fn(m, n, |i, j| a[(i, found.pivots[j])]);
    let residual = (permuted - &q * &r).norm_l2() / a.norm_l2();
    let off = (q.transpose() * &q - Mat::<f64>::identity(rank, rank)).norm_l2();
    assert!(residual < 1e-14 && off < 1e-12, "{name}: residual {residual:e}, off orthonormal {off:e}");
    let best = a.col_piv_qr().thin_R().to_owned();
    for i in 0..rank {
        let ratio = r.get(i.., i..).norm_l2() / best.get(i.., i..).norm_l2();
        assert!(ratio < 2.5, "{name}, from {i} on: {ratio} times LAPACK's trailing norm");
    }
}
