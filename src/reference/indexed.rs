//! Elements by index, by definition.

use super::bounds::sum_tolerance;
use super::elements::Definition;
use crate::gemm::Accumulator;
use crate::layout::Element;

/// The positions along `axis` that the indices name, of row-major elements. A position out of range is NaN, or 0 for integers.
///
/// # Panics
/// If there is no such axis, or the elements do not match the shape.
#[must_use]
pub fn index_select<T: Element>(x: &[T], shape: &[usize], axis: usize, indices: &[i32]) -> Vec<T> {
    assert_eq!(x.len(), shape.iter().product::<usize>(), "{shape:?}");
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let mut taken = Vec::new();
    for at in 0..outer {
        for &index in indices {
            let found = usize::try_from(index).ok().filter(|&index| index < shape[axis]);
            let start = found.map(|index| (at * shape[axis] + index) * inner);
            taken.extend((0..inner).map(|col| start.map_or_else(missing, |start| x[start + col])));
        }
    }
    taken
}

/// One row-major element for each index. Its position along `axis` is the value of the index, along other axes the place of
/// the index. An element out of range is NaN, or 0 for integers.
///
/// # Panics
/// If the shapes do not match, or elements do not match their shape.
#[must_use]
pub fn gather<T: Element>(
    x: &[T],
    shape: &[usize],
    axis: usize,
    indices: &[i32],
    index_shape: &[usize],
) -> Vec<T> {
    assert_eq!(x.len(), shape.iter().product::<usize>(), "{shape:?}");
    let place = |at| gathered_from(shape, axis, index_shape, at, indices[at]);
    let len: usize = index_shape.iter().product();
    assert_eq!(indices.len(), len, "{index_shape:?}");
    (0..len).map(|at| place(at).map_or_else(missing, |place| x[place])).collect()
}

/// Rows of a row-major table with rows of `d` elements. A row out of range is NaN, or 0 for integers.
///
/// # Panics
/// If the table has no whole rows.
#[must_use]
pub fn embedding<T: Element>(table: &[T], d: usize, ids: &[i32]) -> Vec<T> {
    assert!(d > 0 && table.len().is_multiple_of(d), "{} elements in rows of {d}", table.len());
    index_select(table, &[table.len() / d, d], 0, ids)
}

/// The row-major position that index number `at` of row-major indices names, if it is in range.
pub(super) fn gathered_from(
    shape: &[usize],
    axis: usize,
    index_shape: &[usize],
    mut at: usize,
    index: i32,
) -> Option<usize> {
    assert_eq!(shape.len(), index_shape.len(), "the numbers of axes");
    let index = usize::try_from(index).ok().filter(|&index| index < shape[axis])?;
    let (mut place, mut stride) = (0, 1);
    for other in (0..shape.len()).rev() {
        let position = if other == axis { index } else { at % index_shape[other] };
        assert!(position < shape[other], "{index_shape:?} of {shape:?}");
        place += position * stride;
        at /= index_shape[other];
        stride *= shape[other];
    }
    Some(place)
}

fn missing<T: Element>() -> T {
    T::from_f64(f64::NAN)
}

/// `c` with each value added to the element that its index names: the backward pass of [`gather`]. Within $\gamma_{n}
/// \sum |v| + n 2^{-126}$ for n numbers of an element, including its own. Sums of integers are exact, and wrap.
///
/// # Panics
/// If the shapes do not match, or elements do not match their shape.
#[must_use]
pub fn scatter_add<T: Element>(
    c: &[T],
    shape: &[usize],
    axis: usize,
    indices: &[i32],
    index_shape: &[usize],
    values: &[T],
) -> Definition {
    assert_eq!(indices.len(), values.len(), "the indices and values");
    let place = |at| gathered_from(shape, axis, index_shape, at, indices[at]);
    added(c, values.iter().enumerate().filter_map(|(at, value)| Some((place(at)?, value))))
}

/// `c` with each position of `values` along `axis` added to the position that its index names: the backward pass of
/// [`index_select`], within the tolerance of [`scatter_add`].
///
/// # Panics
/// As [`index_select`].
#[must_use]
pub fn index_add<T: Element>(
    c: &[T],
    shape: &[usize],
    axis: usize,
    indices: &[i32],
    values: &[T],
) -> Definition {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    assert_eq!(values.len(), outer * indices.len() * inner, "the values");
    let place = |at: usize| {
        let (row, col) = (at / inner, at % inner);
        let found = usize::try_from(indices[row % indices.len()]).ok().filter(|&index| index < shape[axis]);
        found.map(|index| (row / indices.len() * shape[axis] + index) * inner + col)
    };
    added(c, values.iter().enumerate().filter_map(|(at, value)| Some((place(at)?, value))))
}

/// The gradient of the table of an [`embedding`], rows of `d`, from that of its result: [`index_add`] to zeros. Ids of
/// `padding` are left out.
///
/// # Panics
/// If the elements are not rows of `d` for each id.
#[must_use]
pub fn embedding_backward<T: Element>(
    ids: &[i32],
    g: &[T],
    d: usize,
    rows: usize,
    padding: Option<usize>,
) -> Definition {
    let is_padding = |id: i32| usize::try_from(id).is_ok_and(|id| Some(id) == padding);
    let ids: Vec<i32> = ids.iter().map(|&id| if is_padding(id) { -1 } else { id }).collect();
    index_add(&vec![T::from_f64(0.0); rows * d], &[rows, d], 0, &ids, g)
}

/// `c`, with values added to its elements.
fn added<'a, T: Element>(c: &[T], values: impl Iterator<Item = (usize, &'a T)>) -> Definition {
    // For each element: the sum, the sum of absolute values, and the number of values.
    let mut sums: Vec<(f64, f64, usize)> = c.iter().map(|c| (c.to_f64(), c.to_f64().abs(), 1)).collect();
    for (place, value) in values {
        let (sum, magnitude, count) = &mut sums[place];
        *sum += value.to_f64();
        *magnitude += value.to_f64().abs();
        *count += 1;
    }
    Definition::of(sums.into_iter().map(|(sum, magnitude, count)| {
        if T::DTYPE.is_real() {
            return [sum, sum_tolerance(count, magnitude, Accumulator::F32)];
        }
        // The lowest bits, with the sign of the highest of them.
        let modulus = 2f64.powi(8 * i32::try_from(T::DTYPE.size()).unwrap_or(0));
        [(sum + modulus / 2.0).rem_euclid(modulus) - modulus / 2.0, 0.0]
    }))
}
