//! Grades of blades, and the signs that depend on them.

/// The grade of a blade: the number of its vectors.
#[must_use]
pub fn grade(blade: u8) -> usize {
    blade.count_ones() as usize
}

/// The number of swaps of neighbours that sort the vectors of $e_{a} e_{b}$.
pub(crate) fn swaps(a: u8, b: u8) -> u32 {
    (1..8).map(|k| ((a >> k) & b).count_ones()).sum()
}

/// The sign of a blade under the reverse, which reverses the order of its vectors: $(-1)^{g (g - 1) / 2}$.
#[must_use]
pub fn reverse_sign(blade: u8) -> i8 {
    if grade(blade) & 2 == 0 { 1 } else { -1 }
}

/// The sign of a blade under the grade involution, which negates every vector: $(-1)^g$.
#[must_use]
pub fn involute_sign(blade: u8) -> i8 {
    if grade(blade) & 1 == 0 { 1 } else { -1 }
}

/// The sign of a blade under the Clifford conjugate, the reverse of the grade involution: $(-1)^{g (g + 1) / 2}$.
#[must_use]
pub fn conjugate_sign(blade: u8) -> i8 {
    reverse_sign(blade) * involute_sign(blade)
}
