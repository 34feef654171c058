//! Images with channels last, (batch, height, width, channels), in another size, by definition.

use super::elements::{Definition, NORMAL, U};
use super::pooled::added;
use crate::layout::Element;
use crate::ops::{Corners, Interpolation};

/// The elements of an axis of `from` that index `at` of `to` takes, with their weights.
fn taps(at: usize, from: usize, to: usize, by: Interpolation) -> Vec<(usize, f64)> {
    // The position as a fraction.
    let (place, unit) = match by {
        Interpolation::Nearest => return vec![(at * from / to, 1.0)],
        Interpolation::Bilinear(Corners::HalfPixel) => (((2 * at + 1) * from).saturating_sub(to), 2 * to),
        Interpolation::Bilinear(Corners::Aligned) => (at * (from - 1), (to - 1).max(1)),
    };
    let (first, weight) = (place / unit, (place % unit) as f64 / unit as f64);
    if weight == 0.0 || first + 1 == from {
        return vec![(first, 1.0)];
    }
    vec![(first, 1.0 - weight), (first + 1, weight)]
}

/// What each element of the result takes: its index, those of the elements of the images, and their weights.
fn weights(
    [batch, rows, columns, channels]: [usize; 4],
    size: [usize; 2],
    by: Interpolation,
) -> impl Iterator<Item = (usize, Vec<(usize, f64)>)> {
    let places = (0..batch)
        .flat_map(move |image| (0..size[0] * size[1]).map(move |at| (image, at / size[1], at % size[1])));
    places.flat_map(move |(image, row, column)| {
        let of_columns = taps(column, columns, size[1], by);
        let of_both = taps(row, rows, size[0], by).into_iter().flat_map(move |(i, above)| {
            of_columns
                .clone()
                .into_iter()
                .map(move |(j, left)| ((image * rows + i) * columns + j, above * left))
        });
        let of_both: Vec<(usize, f64)> = of_both.collect();
        let result = (image * size[0] + row) * size[1] + column;
        (0..channels).map(move |channel| {
            let elements = of_both.iter().map(|(at, weight)| (at * channels + channel, *weight)).collect();
            (result * channels + channel, elements)
        })
    })
}

/// Images of this shape in another size: the weighted means of one, two or four elements. One element is exact. Otherwise, with $u =
/// 2^{-23}$, a weight along an axis has an error of at most $6 u$: the rounding of two integers to f32, of their quotient ($3 u$),
/// and of the difference to 1. So the result is within $20 u \sum |x| + 2^{-122} (1 + \sum |x|)$, with all elements that have a
/// weight.
///
/// # Panics
/// If the number of elements is not that of the shape, or an extent is 0.
#[must_use]
pub fn interpolate<T: Element>(
    x: &[T],
    shape: [usize; 4],
    size: [usize; 2],
    by: Interpolation,
) -> Definition {
    assert_eq!(x.len(), shape.iter().product::<usize>(), "{shape:?}");
    Definition::of(weights(shape, size, by).map(|(_, elements)| {
        let value = |&(at, weight): &(usize, f64)| weight * x[at].to_f64();
        let size: f64 = elements.iter().map(|&(at, _)| x[at].to_f64().abs()).sum();
        let bound = if elements.len() == 1 { 0.0 } else { 20.0 * U * size + 16.0 * NORMAL * (1.0 + size) };
        [elements.iter().map(value).sum(), bound]
    }))
}

/// The gradient of images of this shape from that of [`interpolate`]: each element adds the gradients of the results that use it,
/// times their weights. Within $16 u \sum |g| + \gamma_{n} \sum |w g| + n 2^{-122}$ of n gradients g with weights w.
///
/// # Panics
/// If the number of gradients is not that of the result, or an extent is 0.
#[must_use]
pub fn interpolate_backward<T: Element>(
    g: &[T],
    shape: [usize; 4],
    size: [usize; 2],
    by: Interpolation,
) -> Definition {
    assert_eq!(g.len(), shape[0] * size[0] * size[1] * shape[3], "{shape:?} of {size:?}");
    let shares = weights(shape, size, by).flat_map(|(at, elements)| {
        let g = g[at].to_f64();
        let error =
            if elements.len() == 1 { 0.0 } else { 16.0 * U * g.abs() + 16.0 * NORMAL * (1.0 + g.abs()) };
        elements.into_iter().map(move |(at, weight)| (at, weight * g, error))
    });
    added(shape.iter().product(), shares)
}

/// Images of this shape with pixels from channels: channel `c * factor * factor + i * factor + j` of pixel (h, w) becomes channel c
/// of pixel (h `factor` + i, w `factor` + j).
///
/// # Panics
/// If the number of elements is not that of the shape, or the square of the factor does not divide the channels.
#[must_use]
pub fn pixel_shuffle<T: Element>(x: &[T], shape: [usize; 4], factor: usize) -> Vec<T> {
    let [batch, rows, columns, channels] = shape;
    let fewer = channels / (factor * factor);
    assert_eq!(fewer * factor * factor, channels, "whole pixels");
    (0..x.len()).map(|at| x[shuffled_from([batch, rows, columns, fewer], factor, at)]).collect()
}

/// The inverse of [`pixel_shuffle`] for images of this shape.
///
/// # Panics
/// If the number of elements is not that of the shape, or the factor does not divide height and width.
#[must_use]
pub fn pixel_unshuffle<T: Element>(x: &[T], shape: [usize; 4], factor: usize) -> Vec<T> {
    let [batch, rows, columns, channels] = shape;
    assert_eq!([rows % factor, columns % factor], [0, 0], "whole pixels");
    let mut all = x.to_vec();
    for (at, &value) in x.iter().enumerate() {
        all[shuffled_from([batch, rows / factor, columns / factor, channels], factor, at)] = value;
    }
    all
}

/// The index before a shuffle of the element that has this index afterwards. The shape has the rows and columns from before, and the
/// channels from afterwards.
fn shuffled_from([_, rows, columns, channels]: [usize; 4], factor: usize, at: usize) -> usize {
    let (channel, pixel) = (at % channels, at / channels);
    let (column, line) = (pixel % (columns * factor), pixel / (columns * factor));
    let (row, image) = (line % (rows * factor), line / (rows * factor));
    let before = (image * rows + row / factor) * columns + column / factor;
    ((before * channels + channel) * factor + row % factor) * factor + column % factor
}
