//! Paths of the geometric product: triples of grades.

use super::signature::Signature;
use super::signs::grade;
use std::ops::RangeInclusive;

/// A path of the geometric product: the part of grade `out` in the product of a part of grade `left` and a part of
/// grade `right`. Layers have one weight per path. Paths are ordered by left, then by out, then by right, as in other
/// libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// Grade of the left operand's part.
    pub left: usize,
    /// Grade of the result's part.
    pub out: usize,
    /// Grade of the right operand's part.
    pub right: usize,
}

impl Path {
    /// The path of the product of two basis blades, given as bitmasks.
    ///
    /// ```
    /// use tilewise::clifford::{Path, Signature};
    ///
    /// let of_vectors = Path::of(0b01, 0b10);
    /// assert_eq!(of_vectors, Path { left: 1, out: 2, right: 1 });
    /// assert_eq!(Signature::CL2.paths().binary_search(&of_vectors), Ok(6));
    /// ```
    #[must_use]
    pub fn of(a: u8, b: u8) -> Self {
        Self { left: grade(a), out: grade(a ^ b), right: grade(b) }
    }
}

impl Signature {
    /// The paths with at least one nonzero term, sorted.
    #[must_use]
    pub fn paths(self) -> Vec<Path> {
        let of_grades = |(left, right)| {
            self.shared(left, right).map(move |c| Path { left, out: left + right - 2 * c, right })
        };
        let mut paths: Vec<Path> = self.pairs_of_grades().flat_map(of_grades).collect();
        paths.sort_unstable();
        paths
    }

    /// The number of [`paths`](Self::paths). It allocates nothing, because every call of a layer compares its weights
    /// with it.
    pub(crate) fn path_count(self) -> usize {
        self.pairs_of_grades().map(|(left, right)| self.shared(left, right).count()).sum()
    }

    fn pairs_of_grades(self) -> impl Iterator<Item = (usize, usize)> {
        let grades = 0..=self.dimension();
        grades.clone().flat_map(move |left| grades.clone().map(move |right| (left, right)))
    }

    /// The numbers of non-null vectors that two blades of these grades can share.
    fn shared(self, left: usize, right: usize) -> RangeInclusive<usize> {
        let [p, q, _] = self.pqr();
        (left + right).saturating_sub(self.dimension())..=left.min(right).min(p + q)
    }
}
