//! Padding, repetition, triangles, rows of ones and zeros, and numbers at equal distances, by definition.

use crate::layout::Element;

/// A row-major tensor with a number of elements of one value before and after it along each axis.
///
/// # Panics
/// If there is no pair for each axis, or the elements do not match the shape.
#[must_use]
pub fn pad<T: Clone>(x: &[T], shape: &[usize], padding: &[(usize, usize)], value: &T) -> Vec<T> {
    assert_eq!(shape.len(), padding.len(), "a pair for each axis");
    let Some((&(before, after), padding)) = padding.split_first() else { return x.to_vec() };
    let row: usize = shape[1..].iter().product();
    assert_eq!(x.len(), shape[0] * row, "{shape:?}");
    let extents = shape[1..].iter().zip(padding);
    let padded: usize = extents.map(|(extent, (before, after))| before + extent + after).product();
    let mut all = vec![value.clone(); before * padded];
    (0..shape[0]).for_each(|at| {
        all.extend(pad(&x[at * row..(at + 1) * row], &shape[1..], padding, value));
    });
    all.extend(vec![value.clone(); after * padded]);
    all
}

/// A row-major tensor, repeated as a whole along an axis.
///
/// # Panics
/// If there is no such axis, or the elements do not match the shape.
#[must_use]
pub fn repeat<T: Copy>(x: &[T], shape: &[usize], axis: usize, times: usize) -> Vec<T> {
    assert_eq!(x.len(), shape.iter().product::<usize>(), "{shape:?}");
    let outer: usize = shape[..axis].iter().product();
    let row: usize = shape[axis..].iter().product();
    (0..outer).flat_map(|at| x[at * row..(at + 1) * row].repeat(times)).collect()
}

/// A row of zeros for each id, with a 1 at the id.
#[must_use]
pub fn one_hot<T: Element>(ids: &[i32], classes: usize) -> Vec<T> {
    let row = |&id: &i32| {
        (0..classes).map(move |class| T::from_f64(if i32::try_from(class) == Ok(id) { 1.0 } else { 0.0 }))
    };
    ids.iter().flat_map(row).collect()
}

/// A row-major matrix (rows, columns) with ones on its diagonal, and zeros elsewhere.
#[must_use]
pub fn eye<T: Element>([rows, columns]: [usize; 2]) -> Vec<T> {
    let one = |row| move |col| T::from_f64(if row == col { 1.0 } else { 0.0 });
    (0..rows).flat_map(|row| (0..columns).map(one(row))).collect()
}

/// `count` numbers from `start` at this distance. In f32, with two roundings more of each number and product, an element differs by
/// at most [`gamma(2)`](super::gamma) of its product, and `gamma(1)` of itself.
#[must_use]
pub fn arange(start: f64, step: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| start + i as f64 * step).collect()
}

/// `count` numbers at equal distances from `start` to `end`. In f32 an element differs by at most [`gamma(6)`](super::gamma) of the
/// larger of the two magnitudes, and both ends are exact.
#[must_use]
pub fn linspace(start: f64, end: f64, count: usize) -> Vec<f64> {
    let steps = count.saturating_sub(1).max(1) as f64;
    let number =
        |i: usize| if i > 0 && i + 1 == count { end } else { start + (end - start) * (i as f64 / steps) };
    (0..count).map(number).collect()
}

/// The elements of row-major matrices (.., rows, columns) up to a diagonal, and zeros above it. Diagonal d has the elements whose
/// column is the row plus d.
///
/// # Panics
/// If there are fewer than two axes, or the elements do not match the shape.
#[must_use]
pub fn tril<T: Element>(x: &[T], shape: &[usize], diagonal: isize) -> Vec<T> {
    band(x, shape, |of| of <= diagonal)
}

/// The same from a diagonal on, and zeros below it.
///
/// # Panics
/// As [`tril`].
#[must_use]
pub fn triu<T: Element>(x: &[T], shape: &[usize], diagonal: isize) -> Vec<T> {
    band(x, shape, |of| of >= diagonal)
}

fn band<T: Element>(x: &[T], shape: &[usize], is_kept: impl Fn(isize) -> bool) -> Vec<T> {
    let [.., rows, columns] = shape else { panic!("a matrix has two axes") };
    assert_eq!(x.len(), shape.iter().product::<usize>(), "{shape:?}");
    let diagonal = |i: usize| (i % columns).cast_signed() - (i / columns % rows).cast_signed();
    let kept = |(i, &x): (usize, &T)| if is_kept(diagonal(i)) { x } else { T::from_f64(0.0) };
    x.iter().enumerate().map(kept).collect()
}
