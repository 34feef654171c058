//! Rotary position embeddings by definition, and their gradients.

use super::bounded::{BoundedNumber, defined, exact};
use super::elements::{Definition, NORMAL, U};
use crate::layout::Element;
use crate::ops::RotaryPairs;

/// The angles of [`ops::Rotary`](crate::ops::Rotary): $p\\,b^{-2i/d}$ of pair $i$ at position $p$, row-major (positions, d / 2),
/// where d is the number of rotary dims and b the base.
#[must_use]
pub fn rotary_angles(rotary_dims: usize, base: f64, positions: &[usize]) -> Vec<f64> {
    let frequency = |pair: usize| base.powf(-((2 * pair) as f64) / rotary_dims as f64);
    let frequencies: Vec<f64> = (0..rotary_dims / 2).map(frequency).collect();
    positions.iter().flat_map(|&at| frequencies.iter().map(move |of| at as f64 * of)).collect()
}

/// Rotations of the pairs of rows, of a contiguous tensor (outer, length, dim) with angles (length, pairs): a pair $(a, b)$ becomes
/// $(a \cos\theta - b \sin\theta,\ b \cos\theta + a \sin\theta)$. Elements after the pairs are kept.
///
/// With $u = 2^{-23}$, a factor of the table has a relative error of $u / 2$ from its rounding to f32, and each product and the sum
/// have a relative error of $u$. So the first result is within $((1 + u)^2 (1 + u / 2) - 1)(|a \cos\theta| + |b \sin\theta|)$, less
/// than $3 u$ times that sum, and the second within the same bound of its terms. In addition, operands, factors, products and the
/// result below $2^{-126}$ may be flushed to zero, which changes a result by at most $2^{-126} (5 + |a| + |b|)$. Elements that are
/// kept are exact.
///
/// # Panics
/// If the number of elements does not match the shape, the number of angles is no multiple of the length, or a row has fewer
/// elements than its pairs.
#[must_use]
pub fn rotary<T: Element>(
    x: &[T],
    [outer, length, dim]: [usize; 3],
    pairs: RotaryPairs,
    angles: &[f64],
) -> Definition {
    assert_eq!(x.len(), outer * length * dim, "the number of elements");
    let count = angles.len() / length.max(1);
    assert_eq!(angles.len(), length * count, "the number of angles");
    let mut rows: Vec<BoundedNumber> = x.iter().map(|x| exact(x.to_f64())).collect();
    rotate_rows(&mut rows, [length, 1, dim.max(1)], pairs, angles);
    defined(&rows)
}

/// The gradient of [`rotary`] with respect to its operand, from the gradient g of its result: the rotation by the negative angles,
/// within the same tolerance.
///
/// # Panics
/// As [`rotary`].
#[must_use]
pub fn rotary_backward<T: Element>(
    g: &[T],
    shape: [usize; 3],
    pairs: RotaryPairs,
    angles: &[f64],
) -> Definition {
    let negative: Vec<f64> = angles.iter().map(|angle| -angle).collect();
    rotary(g, shape, pairs, &negative)
}

/// Rotates the pairs of rows of `dim` elements, of (batch, length, heads, dim), by angles (length, pairs).
pub(super) fn rotate_rows(
    x: &mut [BoundedNumber],
    [length, heads, dim]: [usize; 3],
    pairs: RotaryPairs,
    angles: &[f64],
) {
    // The relative error of a term: of its factor, its product and the sum.
    let rounding = (1.0 + U) * (1.0 + U) * (1.0 + U / 2.0) - 1.0;
    let count = angles.len() / length.max(1);
    for (at, row) in x.chunks_exact_mut(dim).enumerate() {
        for (pair, angle) in angles[at / heads % length * count..][..count].iter().enumerate() {
            let [first, second] = match pairs {
                RotaryPairs::Halves => [pair, pair + count],
                RotaryPairs::Interleaved => [2 * pair, 2 * pair + 1],
            };
            let (a, b, (sin, cos)) = (row[first], row[second], angle.sin_cos());
            let flushed = NORMAL * (5.0 + a.most() + b.most());
            let sum = |x: BoundedNumber, y: BoundedNumber| BoundedNumber {
                value: x.value + y.value,
                bound: x.bound + y.bound + rounding * (x.most() + y.most()) + flushed,
            };
            (row[first], row[second]) =
                (sum(a.scaled(cos), b.scaled(-sin)), sum(b.scaled(cos), a.scaled(sin)));
        }
    }
}
