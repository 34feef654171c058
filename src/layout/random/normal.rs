//! Standard normal numbers from random words, in integer arithmetic only. `shaders/common/normal_entry.wgsl`
//! computes the same.

use super::normal_table::TABLE;

/// The divisor that turns the integer of [`normal`] into a standard normal number. It is a power of two, so the
/// division is exact.
pub(crate) const ONE: f32 = 2_097_152.0; // 2^21

/// A standard normal number times $2^{21}$, as an integer. The lower 31 bits of the word choose the tail probability,
/// and the highest bit chooses the sign.
///
/// The inverse of the distribution function is interpolated linearly in a table of 32 values for every halving of the
/// probability. The magnitude before scaling is at most 6.34 (one in $2^{32}$ words), so f32 holds the integer exactly.
/// The error of a number is below $6\cdot10^{-5}$, that of the variance $3\cdot10^{-5}$.
#[expect(clippy::cast_possible_wrap, reason = "table entries are below 2^24")]
pub(crate) fn normal(word: u32) -> i32 {
    let odd = (word << 1) | 1; // the tail probability times 2^33
    let exponent = 31 - odd.leading_zeros();
    let scaled = odd << (31 - exponent);
    let (step, rest) = (scaled >> 26 & 31, scaled >> 11 & 0x7fff);
    let at = (32 * exponent + step) as usize;
    let z = TABLE[at] - (((TABLE[at] - TABLE[at + 1]) * rest + 0x4000) >> 15);
    if word >> 31 == 0 { z as i32 } else { -(z as i32) }
}

/// The table that the shader binds.
pub(crate) const fn table() -> &'static [u32] {
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
        // The words nearest to both ends, to the middle, and around every power of two.
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
