//! Concatenation and stacking, by definition.

/// Row-major tensors, given with their shapes, one after another along an existing axis.
///
/// # Panics
/// If there is no tensor, the shapes differ except along the axis, or elements do not match their shape.
#[must_use]
pub fn concat<T: Clone>(tensors: &[(&[T], &[usize])], axis: usize) -> Vec<T> {
    let (_, first) = tensors[0];
    let outer: usize = first[..axis].iter().product();
    let mut joined = Vec::new();
    for index in 0..outer {
        for (elements, shape) in tensors {
            assert_eq!(elements.len(), shape.iter().product::<usize>(), "{shape:?}");
            assert!(shape[..axis] == first[..axis] && shape[axis + 1..] == first[axis + 1..], "{shape:?}");
            let row: usize = shape[axis..].iter().product();
            joined.extend_from_slice(&elements[index * row..(index + 1) * row]);
        }
    }
    joined
}

/// Row-major tensors of one shape, stacked along a new axis.
///
/// # Panics
/// As [`concat()`].
#[must_use]
pub fn stack<T: Clone>(tensors: &[&[T]], shape: &[usize], axis: usize) -> Vec<T> {
    let mut with_axis = shape.to_vec();
    with_axis.insert(axis, 1);
    let tensors: Vec<(&[T], &[usize])> = tensors.iter().map(|elements| (*elements, &with_axis[..])).collect();
    concat(&tensors, axis)
}
