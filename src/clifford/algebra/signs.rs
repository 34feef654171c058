//! Grades of blades, and the signs that depend on them.

/// The grade of a blade: how many vectors it is a product of.
#[must_use]
pub fn grade(blade: u8) -> usize {
    blade.count_ones() as usize
}

/// Swaps of neighbours that bring the vectors of $e_{a} e_{b}$ into ascending order.
pub(crate) fn swaps(a: u8, b: u8) -> u32 {
    (1..8).map(|k| ((a >> k) & b).count_ones()).sum()
}

/// The sign of a blade in the reverse, in which all products are written backwards: $(-1)^{g (g - 1) / 2}$.
#[must_use]
pub fn reverse_sign(blade: u8) -> i8 {
    if grade(blade) & 2 == 0 { 1 } else { -1 }
}

/// The sign of a blade in the grade involution, in which all vectors change sign: $(-1)^g$.
#[must_use]
pub fn involute_sign(blade: u8) -> i8 {
    if grade(blade) & 1 == 0 { 1 } else { -1 }
}

/// The sign of a blade in the Clifford conjugate, the reverse of the involution: $(-1)^{g (g + 1) / 2}$.
#[must_use]
pub fn conjugate_sign(blade: u8) -> i8 {
    reverse_sign(blade) * involute_sign(blade)
}
