#!/usr/bin/env bash
# faer 0.24 finds wrong eigenvalues of symmetric matrices of more than 128 rows whose entries are tiny.
#
# Guess: eigenvalues have errors relative to the norm of the matrix, so those of a matrix and of its multiple by a power of two differ
# by that factor alone.
# Seen: so it is up to 128 rows. Larger matrices are divided, and the halves are coupled through a vector of length 1. What is
# negligible is compared with 8 times the machine epsilon of the larger of the diagonal and that vector, which has no unit. Below a norm
# of about 1e-16 the halves stay uncoupled; somewhat above it, digits are lost.
#
# The matrix has 2 on its diagonal and -1 next to it; its eigenvalues are 4 sin(k pi / (2 (n + 1)))^2. It is multiplied by 2^-66.
#
# Version: faer 0.24.4 of crates.io. Run on Debian 12, x86-64, with Rust 1.95. Largest relative error of an eigenvalue: 128 rows
# 4.4e-14, 130 rows 0.75, and of 130 rows without the factor 8.7e-14.
# Passes where 130 rows lose more than a tenth and the other two less than 1e-9, and fails where that has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cargo init --quiet --vcs none --name eigenvalues
cat >>Cargo.toml <<'END'
faer = { version = "=0.24.4", default-features = false, features = ["std", "linalg"] }
END
cat >src/main.rs <<'END'
use faer::{Mat, Side};

/// The largest relative error of the eigenvalues of the matrix times `scale`.
fn error(n: usize, scale: f64) -> f64 {
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 2.0 * scale,
        1 => -scale,
        _ => 0.0,
    };
    let eigen = Mat::from_fn(n, n, entry).self_adjoint_eigen(Side::Lower).unwrap();
    let exact = |k: usize| {
        let half = (k + 1) as f64 * std::f64::consts::PI / (2 * (n + 1)) as f64;
        4.0 * scale * half.sin().powi(2)
    };
    let values = eigen.S().column_vector();
    (0..n).map(|k| (values[k] / exact(k) - 1.0).abs()).fold(0.0, f64::max)
}

fn main() {
    let tiny = f64::powi(2.0, -66);
    let [few, many, plain] = [error(128, tiny), error(130, tiny), error(130, 1.0)];
    println!("128 rows, times 2^-66: {few:.1e}; 130 rows: {many:.1e}; 130 rows, not scaled: {plain:.1e}");
    std::process::exit(i32::from(few > 1e-9 || many < 0.1 || plain > 1e-9));
}
END
cargo run --quiet --release
