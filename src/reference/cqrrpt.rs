//! QR factorisation with column pivoting through a sketch, by definition.

/// A factorisation $AP = QR$, row-major: Q (m, r), R (r, n).
#[derive(Clone, Debug, PartialEq)]
pub struct PivotedReference {
    /// Q: orthonormal columns.
    pub q: Vec<f64>,
    /// R: an upper trapezoid.
    pub r: Vec<f64>,
    /// Column j of AP is column `pivots[j]` of A.
    pub pivots: Vec<usize>,
    /// Number of columns of Q.
    pub rank: usize,
}

/// `CQRRPT` of `a` (m, n) with a sketch `s` (d, m), following Melnichenko et al. (2023):
///
/// 1. column-pivoted QR of SA, and k, the number of diagonal entries of its triangle above `tolerance` times the first;
/// 2. the Cholesky factor L of the Gram matrix of $A P R_k^{-1}$, up to the first pivot that is not positive;
/// 3. $Q = A P R_k^{-1} L^{-T}$ and $R = L^T R_{sk}$.
///
/// # Panics
/// If the operands do not have these numbers of elements.
#[must_use]
pub fn cqrrpt_core(a: &[f64], s: &[f64], [m, n, d]: [usize; 3], tolerance: f64) -> PivotedReference {
    assert!(a.len() == m * n && s.len() == d * m, "the operands must have m n and d m elements");
    let mut sketch = vec![0.0; d * n];
    for i in 0..d {
        for p in 0..m {
            for j in 0..n {
                sketch[i * n + j] += s[i * m + p] * a[p * n + j];
            }
        }
    }
    let pivots = triangle(&mut sketch, [d, n]);
    let r_sk = |i: usize, j: usize| sketch[i * n + j];
    let k = (0..d.min(n)).take_while(|&i| r_sk(i, i).abs() > tolerance * r_sk(0, 0).abs()).count();

    // Solves each row of A with R_k, from the first column on.
    let mut pre = vec![0.0; m * k];
    for (row, from) in pre.chunks_exact_mut(k.max(1)).zip(a.chunks_exact(n)) {
        for j in 0..k {
            let known: f64 = (0..j).map(|i| row[i] * r_sk(i, j)).sum();
            row[j] = (from[pivots[j]] - known) / r_sk(j, j);
        }
    }
    let gram = |i: usize, j: usize| (0..m).map(|p| pre[p * k + i] * pre[p * k + j]).sum::<f64>();
    let mut l = vec![0.0; k * k];
    let mut rank = 0;
    while rank < k {
        for j in 0..=rank {
            let known: f64 = (0..j).map(|p| l[rank * k + p] * l[j * k + p]).sum();
            let rest = gram(rank, j) - known;
            l[rank * k + j] = if j < rank { rest / l[j * k + j] } else { rest };
        }
        let pivot = l[rank * k + rank];
        if pivot <= 0.0 {
            break;
        }
        l[rank * k + rank] = pivot.sqrt();
        rank += 1;
    }

    let mut q = vec![0.0; m * rank];
    for (row, from) in q.chunks_exact_mut(rank.max(1)).zip(pre.chunks_exact(k.max(1))) {
        for j in 0..rank {
            let known: f64 = (0..j).map(|i| row[i] * l[j * k + i]).sum();
            row[j] = (from[j] - known) / l[j * k + j];
        }
    }
    let entry = |i: usize, j: usize| (i..rank).map(|p| l[p * k + i] * r_sk(p, j)).sum::<f64>();
    let r = (0..rank * n).map(|at| if at / n <= at % n { entry(at / n, at % n) } else { 0.0 }).collect();
    PivotedReference { q, r, pivots, rank }
}

/// Replaces a matrix by its triangle, with Householder reflections that take the longest remaining column first.
/// Returns the order of the columns.
fn triangle(a: &mut [f64], [rows, cols]: [usize; 2]) -> Vec<usize> {
    let mut pivots: Vec<usize> = (0..cols).collect();
    for step in 0..rows.min(cols) {
        let length = |a: &[f64], j: usize| (step..rows).map(|i| a[i * cols + j].powi(2)).sum::<f64>().sqrt();
        let longest =
            (step..cols).fold(step, |best, j| if length(a, j) > length(a, best) { j } else { best });
        pivots.swap(step, longest);
        (0..rows).for_each(|i| a.swap(i * cols + step, i * cols + longest));
        let norm = length(a, step);
        let mut v: Vec<f64> = (step..rows).map(|i| a[i * cols + step]).collect();
        v[0] += norm.copysign(v[0]);
        let square: f64 = v.iter().map(|x| x * x).sum();
        if square == 0.0 {
            break;
        }
        for j in step..cols {
            let along: f64 = v.iter().zip(step..rows).map(|(v, i)| v * a[i * cols + j]).sum();
            v.iter().zip(step..rows).for_each(|(v, i)| a[i * cols + j] -= 2.0 * along / square * v);
        }
        (step + 1..rows).for_each(|i| a[i * cols + step] = 0.0);
    }
    pivots
}
