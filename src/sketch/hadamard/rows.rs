//! Which rows of a Hadamard matrix an operator has: an order of all of them, of which it takes the first.

use crate::sketch::operator::Sketch;
use crate::sketch::philox::philox;

/// Rounds of the permutation.
const ROUNDS: usize = 4;

/// A permutation of the numbers of so many bits, from a seed: in each round a number is folded onto its lower half,
/// multiplied by an odd number and added to, all of which can be undone. `shaders/sketch/row_order.wgsl` undoes it.
pub(in crate::sketch) struct RowOrder {
    bits: u32,
    /// An odd factor and a summand for every round.
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

    /// By how much a number is shifted onto its lower half: at least half of its bits, so that doing it twice undoes
    /// it.
    pub(in crate::sketch) fn shift(&self) -> u32 {
        self.bits.div_ceil(2).max(1)
    }

    /// The row that comes at this place.
    pub(in crate::sketch) fn row(&self, place: u32) -> u32 {
        self.rounds.iter().fold(place, |x, [factor, summand]| {
            (x ^ (x >> self.shift())).wrapping_mul(*factor).wrapping_add(*summand) & self.mask()
        })
    }

    /// What undoes the rounds, the last one first: subtract, multiply, fold.
    pub(in crate::sketch) fn inverse(&self) -> [[u32; 2]; ROUNDS] {
        let mut rounds = self.rounds.map(|[factor, summand]| [inverse(factor), summand]);
        rounds.reverse();
        rounds
    }
}

/// The number that an odd one times is 1 modulo $2^{32}$, by Newton's iteration: each step doubles the bits that are
/// right.
fn inverse(odd: u32) -> u32 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::SketchKind;

    #[test]
    fn every_row_comes_once_and_is_found_again() {
        for n in [1usize, 2, 3, 8, 100, 4096] {
            let order = RowOrder::new(&Sketch::new(SketchKind::Hadamard, [1, n], n as u64).unwrap());
            let padded = u32::try_from(n.next_power_of_two()).unwrap();
            let mut rows: Vec<u32> = (0..padded).map(|place| order.row(place)).collect();
            for (place, &row) in rows.iter().enumerate() {
                let found = order.inverse().iter().fold(row, |x, [factor, summand]| {
                    let x = x.wrapping_sub(*summand).wrapping_mul(*factor) & order.mask();
                    x ^ (x >> order.shift())
                });
                assert_eq!(found as usize, place);
            }
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..padded));
        }
    }
}
