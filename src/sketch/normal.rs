//! Standard normal numbers from random words, in integers alone. `shaders/gemm/entry.wgsl` is the same.

use super::normal_table::TABLE;

/// What a normal integer is divided by: a power of two, so that nothing is rounded.
pub(super) const ONE: f32 = 2_097_152.0; // 2^21

/// The inverse of the normal distribution function at a word's 31 lower bits, on the side of its highest, times
/// $2^{21}$: linear between the values of a table that has 32 of them for every halving of the probability.
///
/// Its magnitude is at most 6.34 (one in $2^{32}$ words), so f32 holds it exactly. It is off by less than
/// $6\cdot10^{-5}$, and its variance by $3\cdot10^{-5}$.
#[expect(clippy::cast_possible_wrap, reason = "entries of the table are below 2^24")]
pub(super) fn normal(word: u32) -> i32 {
    let odd = (word << 1) | 1; // the probability of being beyond, times 2^33
    let exponent = 31 - odd.leading_zeros();
    let scaled = odd << (31 - exponent);
    let (step, rest) = (scaled >> 26 & 31, scaled >> 11 & 0x7fff);
    let at = (32 * exponent + step) as usize;
    let z = TABLE[at] - (((TABLE[at] - TABLE[at + 1]) * rest + 0x4000) >> 15);
    if word >> 31 == 0 { z as i32 } else { -(z as i32) }
}

/// The table, as the shader binds it.
pub(super) const fn table() -> &'static [u32] {
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(Z > z) of a standard normal number.
    fn beyond(z: f64) -> f64 {
        0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
    }

    /// z with P(Z > z) = p, of p up to 1/2.
    fn quantile(p: f64) -> f64 {
        let (mut low, mut high) = (0.0, 10.0);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if beyond(middle) > p { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    #[test]
    fn the_table_is_the_inverse_of_the_distribution() {
        for (i, &entry) in (0u32..).zip(&TABLE) {
            let (exponent, step) = (i / 32, f64::from(i % 32));
            let p = (32.0 + step) * (f64::from(exponent) - 38.0).exp2();
            assert_eq!(f64::from(entry), (quantile(p) * f64::from(ONE)).round(), "entry {i}");
        }
    }

    #[test]
    fn the_tails_are_right_to_the_last_word() {
        // The words nearest to the ends, to the middle, and around every power of two.
        let words = (0..31).flat_map(|bit| [(1u32 << bit) - 1, 1 << bit, (1 << bit) + (1 << bit >> 1)]);
        for word in words.chain([0x7fff_ffff]) {
            let p = (f64::from(word & 0x7fff_ffff) + 0.5) / 4_294_967_296.0;
            let z = f64::from(normal(word)) / f64::from(ONE);
            assert!((z - quantile(p)).abs() < 6e-5, "word {word:#x}: {z} instead of {}", quantile(p));
            assert_eq!(normal(word | 1 << 31), -normal(word));
        }
        assert!((f64::from(normal(0)) / f64::from(ONE) - 6.338).abs() < 1e-3);
    }
}
