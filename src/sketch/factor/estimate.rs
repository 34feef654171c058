//! Estimates of the errors of singular values.

/// Share of the norm of a matrix that rounding may add to a singular value.
const ROUNDING: f64 = 1.0 / (1 << 20) as f64;
/// The factor of the estimates. The first-order term alone is up to a quarter too small for values that have not
/// converged at all.
const CAUTION: f64 = 2.0;

/// Estimated errors of the first `rank` computed singular values `s`. `outside` are the norms of $R v_{i}$ for the rest
/// R of the matrix: for these values and the next one, if it was computed. The norms are those of the rest and of the
/// matrix.
///
/// With $A = QB + R$ and $Q^TR = 0$, $A^TA = B^TB + R^TR$. So $v_{i}$ has the Rayleigh quotient $s_{i}^2 + r_{i}^2$
/// with $r_{i} = \\|R v_{i}\\|$, and the residual $R^TR v_{i}$, of norm at most $\rho r_{i}$ with $\rho = \\|R\\|\_2$. Thus
/// $\sigma_{i}^2 - s_{i}^2$ is about $r_{i}^2 + \rho^2 r_{i}^2 / (s_{i}^2 - \rho^2)$, and about $\rho r_{i}$ at most
/// where there is no gap. The next value stands for $\rho$.
pub(super) fn errors(s: &[f64], outside: &[f64], rank: usize, [rest, norm]: [f64; 2]) -> Vec<f64> {
    let next = s.get(rank).zip(outside.get(rank)).map_or(rest, |(s, outside)| s.hypot(*outside));
    let largest = next.min(rest);
    s[..rank]
        .iter()
        .zip(outside)
        .map(|(&s, &outside)| {
            let gap = s * s - largest * largest;
            let without_gap = outside * largest.max(outside);
            let square =
                if gap > 0.0 { (outside * outside * (s * s / gap)).min(without_gap) } else { without_gap };
            let square = CAUTION * square;
            // The root of s^2 + square, minus s, without cancellation.
            let error = if square > 0.0 { square / ((s * s + square).sqrt() + s) } else { 0.0 };
            error + ROUNDING * norm
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::errors;

    #[test]
    fn what_is_outside_counts_by_the_gap_that_it_has() {
        let found = errors(&[10.0, 2.0, 1.0], &[0.1, 0.1, 0.0], 2, [2.0, 11.0]);
        let rounding = 11.0 / f64::from(1 << 20);
        // 0.01 / (1 - 1/100) more in the square, twice, and 0.01 / (1 - 1/4).
        for (found, (s, square)) in found.iter().zip([(10.0f64, 0.02 / 0.99), (2.0, 0.02 / 0.75)]) {
            let want = (s * s + square).sqrt() - s + rounding;
            assert!((found - want).abs() < 1e-12, "{found}, not {want}");
        }
        // Without a gap it is the product of both norms.
        let found = errors(&[1.0, 1.0], &[0.1, 0.0], 1, [5.0, 6.0])[0];
        assert!((found - (1.2f64.sqrt() - 1.0) - 6.0 / f64::from(1 << 20)).abs() < 1e-12, "{found}");
        assert!(errors(&[], &[], 0, [1.0, 1.0]).is_empty());
    }
}
