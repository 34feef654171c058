//! A counter-based random number generator: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, *Parallel random numbers:
//! as easy as 1, 2, 3* (2011). `shaders/common/philox.wgsl` computes the same.

/// Four random words. They depend only on the seed and the counter, and are the same on every machine.
/// ```
/// // The paper's test vector for zeros.
/// let words = tilewise::sketch::philox(0, [0; 4]);
/// assert_eq!(words, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
/// ```
#[must_use]
pub fn philox(seed: u64, counter: [u32; 4]) -> [u32; 4] {
    let mut key = words(seed);
    let mut c = counter;
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        let [low0, high0] = words(u64::from(c[0]) * 0xD251_1F53);
        let [low1, high1] = words(u64::from(c[2]) * 0xCD9E_8D57);
        c = [high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0];
    }
    c
}

/// The lower and the upper word of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "each word takes half of the bits")]
pub(crate) const fn words(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// A number below `bound`, from the upper bits of a random word. The probability of each number is within $2^{-32}$ of
/// 1 / `bound`.
pub(crate) const fn below(word: u32, bound: u32) -> u32 {
    words(word as u64 * bound as u64)[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_test_vectors_hold() {
        let answers = [
            (0, [0; 4], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            (u64::MAX, [u32::MAX; 4], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                0x299f_31d0_a409_3822,
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (seed, counter, want) in answers {
            assert_eq!(philox(seed, counter), want, "{seed:#x} {counter:x?}");
        }
    }
}
