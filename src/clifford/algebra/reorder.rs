//! The same algebra with its vectors in another order.

use super::signature::Signature;
use crate::{Error, Result};

impl Signature {
    /// Which vector of another order each of these is: of those that square to the same, the first is the first.
    pub(crate) fn places_in(self, to: Self) -> Result<Vec<usize>> {
        if self.pqr() != to.pqr() {
            let why = format!("{self} has not the vectors of {to} in another order");
            return Err(Error::input("reordered", why));
        }
        let mut free: Vec<(usize, i8)> = to.squares().iter().copied().enumerate().collect();
        let mut take = |square: i8| free.iter().position(|&(_, of)| of == square).map(|at| free.remove(at).0);
        Ok(self.squares().iter().filter_map(|&square| take(square)).collect())
    }
}

/// The blade that a product of vectors is where they stand in these places, and its sign: of as many swaps as there are
/// pairs out of order.
pub(crate) fn carried(places: &[usize], blade: u8) -> (u8, i8) {
    let vectors = places.iter().enumerate().filter(|(i, _)| blade >> i & 1 == 1).map(|(_, &place)| place);
    vectors.fold((0, 1), |(mask, sign), place| {
        let passed = (mask >> place).count_ones();
        (mask | 1 << place, if passed.is_multiple_of(2) { sign } else { -sign })
    })
}
