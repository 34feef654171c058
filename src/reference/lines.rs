//! Lines of elements along the middle of three axes.

use super::elements::Definition;

/// The places of the elements of each line along the middle axis. The lines are in the order of their first elements.
/// There are none if the outer or the inner axis is empty.
pub(super) fn lines([outer, length, inner]: [usize; 3]) -> impl Iterator<Item = Vec<usize>> {
    let place = move |line: usize, i: usize| (line / inner * length + i) * inner + line % inner;
    (0..outer * inner).map(move |line| (0..length).map(|i| place(line, i)).collect())
}

/// A definition of as many elements as the shape has, from the values and tolerances of each line, whose places `of_line`
/// receives.
///
/// # Panics
/// If the number of elements is not that of the shape.
pub(super) fn along_lines(
    len: usize,
    shape: [usize; 3],
    of_line: impl Fn(&[usize]) -> Vec<[f64; 2]>,
) -> Definition {
    assert_eq!(len, shape.iter().product::<usize>(), "the number of elements");
    let mut entries = vec![[0.0; 2]; len];
    for places in lines(shape) {
        for (&place, entry) in places.iter().zip(of_line(&places)) {
            entries[place] = entry;
        }
    }
    Definition::of(entries.into_iter())
}
