//! The rows of a Hadamard matrix in an operator: the first ones of a random order of all rows.

use super::sketch::Sketch;
use crate::layout::philox;

/// Rounds of the permutation.
const ROUNDS: usize = 4;

/// A random permutation of all numbers of a given width in bits.
///
/// Each round xors the upper half of a number's bits into its lower half, multiplies by an odd number and adds a
/// number. All three steps are invertible. `position_of` in `shaders/sketch/hadamard.wgsl` computes the inverse.
pub(in crate::sketch) struct RowOrder {
    bits: u32,
    /// An odd factor and a summand for each round.
    rounds: [[u32; 2]; ROUNDS],
}

impl RowOrder {
    pub(in crate::sketch) fn new(sketch: &Sketch) -> Self {
        let round = |r: u32| {
            let words = philox(sketch.seed(), [r, 0, 1, sketch.tag()]);
            [words[0] | 1, words[1]]
        };
        Self { bits: sketch.padded().trailing_zeros(), rounds: [0, 1, 2, 3].map(round) }
    }

    fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// The row of the Hadamard matrix at this position of the order.
    pub(in crate::sketch) fn row(&self, position: u32) -> u32 {
        self.rounds.iter().fold(position, |x, [factor, summand]| {
            (x ^ (x >> shift(self.bits))).wrapping_mul(*factor).wrapping_add(*summand) & self.mask()
        })
    }

    /// Factors and summands of the inverse rounds, the last round first. An inverse round subtracts, multiplies, then
    /// xors.
    pub(in crate::sketch) fn inverse(&self) -> [[u32; 2]; ROUNDS] {
        let mut rounds = self.rounds.map(|[factor, summand]| [inverse(factor), summand]);
        rounds.reverse();
        rounds
    }
}

/// The shift that moves the upper bits of a number of this width onto its lower ones. It is at least half of the width, so that
/// applying the xor twice restores the number.
pub(in crate::sketch) fn shift(bits: u32) -> u32 {
    bits.div_ceil(2).max(1)
}

/// The inverse of an odd number modulo $2^{32}$, by Newton's iteration: each iteration doubles the number of correct
/// bits.
fn inverse(odd: u32) -> u32 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::operator::SketchKind;

    #[test]
    fn the_order_is_a_permutation_with_an_inverse() {
        for n in [1usize, 2, 3, 8, 100, 4096] {
            let order = RowOrder::new(&Sketch::new(SketchKind::Hadamard, [1, n], n as u64).unwrap());
            let padded = u32::try_from(n.next_power_of_two()).unwrap();
            let mut rows: Vec<u32> = (0..padded).map(|position| order.row(position)).collect();
            for (position, &row) in rows.iter().enumerate() {
                let found = order.inverse().iter().fold(row, |x, [factor, summand]| {
                    let x = x.wrapping_sub(*summand).wrapping_mul(*factor) & order.mask();
                    x ^ (x >> shift(order.bits))
                });
                assert_eq!(found as usize, position);
            }
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..padded));
        }
    }
}
