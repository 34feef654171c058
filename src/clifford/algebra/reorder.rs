//! Conversions between algebras that differ only in the order of their vectors.

use super::signature::Signature;
use crate::{Error, Result};

impl Signature {
    /// For each vector, its index in the signature `to`. Vectors of the same square keep their relative order.
    ///
    /// # Errors
    /// [`Error::Input`] if the two signatures do not have the same vectors.
    pub(crate) fn vector_permutation(self, to: Self) -> Result<Vec<usize>> {
        if self.pqr() != to.pqr() {
            let why = format!("{self} and {to} do not have the same vectors");
            return Err(Error::input("reordered", why));
        }
        let mut free: Vec<(usize, i8)> = to.squares().iter().copied().enumerate().collect();
        let mut take = |square: i8| free.iter().position(|&(_, of)| of == square).map(|at| free.remove(at).0);
        Ok(self.squares().iter().filter_map(|&square| take(square)).collect())
    }
}

/// The image of a blade under a permutation of the vectors, and its sign: negative if an odd number of pairs change
/// their order.
pub(crate) fn permuted_blade(places: &[usize], blade: u8) -> (u8, i8) {
    let vectors = places.iter().enumerate().filter(|(i, _)| blade >> i & 1 == 1).map(|(_, &place)| place);
    vectors.fold((0, 1), |(mask, sign), place| {
        let passed = (mask >> place).count_ones();
        (mask | 1 << place, if passed.is_multiple_of(2) { sign } else { -sign })
    })
}
