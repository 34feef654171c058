//! Poolings and interpolations of shapes and sizes that are not possible.

use crate::words::said::Said;
use tilewise::ops::{
    self, AdaptiveAvgPool2d, AdaptiveMaxPool2d, AvgPool2d, Corners, Interpolation, MaxPool2d, PoolRounding,
};

#[test]
fn windows_and_sizes_that_are_not_possible() {
    let mut said = Said::new();
    let x = said.tensor(&[2, 5, 6, 3]);
    let matrix = said.tensor(&[5, 6]);
    let pool = MaxPool2d::new([3, 3]);
    said.says(|| pool.run(&matrix));
    said.says(|| MaxPool2d::new([0, 3]).run(&x));
    said.says(|| pool.stride([1, 0]).run(&x));
    said.says(|| pool.dilation([0, 1]).with_indices(&x));
    said.says(|| pool.padding([2, 0]).run(&x));
    said.says(|| pool.padding([(0, 1), (0, usize::MAX)]).run(&x));
    said.says(|| pool.dilation([1, 2]).padding([(1, 2), (2, 3)]).run(&x));
    said.says(|| MaxPool2d::new([3, 7]).run(&x));
    said.says(|| MaxPool2d::new([3, 7]).stride([1, 1]).rounding(PoolRounding::Ceil).run(&x));
    said.says(|| MaxPool2d::new([usize::MAX, 1]).dilation([usize::MAX, 1]).run(&x));
    said.says(|| pool.stride([1 << 31, 1]).run(&x));
    let flat = x.slice(1, ..0).unwrap();
    said.says(|| pool.run(&flat));
    said.says(|| MaxPool2d::new([2, 2]).padding([1, 1]).run(&flat));
    // Gradients of another shape.
    let (g, indices) = (said.tensor(&[2, 1, 2, 3]), said.integers(&[2, 1, 2, 3]));
    said.says(|| pool.backward(&indices, &x, [5, 6]));
    said.says(|| pool.backward(&indices, &g, [6, 6]));
    said.says(|| pool.backward(&indices.slice(3, ..2).unwrap(), &g, [5, 6]));
    said.says(|| pool.backward(&indices, &g, [2, 6]));
    let average = AvgPool2d::new([3, 3]);
    said.says(|| average.run(&matrix));
    said.says(|| average.padding([2, 2]).run(&x));
    said.says(|| average.backward(&g, [5, 9]));
    said.says(|| average.backward(&matrix, [5, 6]));
    // Sizes of nothing, and of axes without a common divisor.
    said.says(|| AdaptiveAvgPool2d::new([0, 3]).run(&x));
    said.says(|| AdaptiveAvgPool2d::new([3, 3]).run(&flat));
    said.says(|| AdaptiveMaxPool2d::new([3, 3]).run(&matrix));
    said.says(|| AdaptiveMaxPool2d::new([1, 1]).with_indices(&flat));
    said.says(|| AdaptiveMaxPool2d::new([2, 2]).backward(&indices, &g, [5, 6]));
    said.says(|| AdaptiveAvgPool2d::new([1, 2]).backward(&g, [0, 6]));
    let nearest = Interpolation::Nearest;
    said.says(|| ops::interpolate(&x, [0, 3], nearest));
    said.says(|| ops::interpolate(&matrix, [2, 3], nearest));
    said.says(|| ops::interpolate(&flat, [2, 3], nearest));
    said.says(|| ops::interpolate(&x, [1, (1 << 30) + 1], nearest));
    said.says(|| ops::interpolate(&x, [1, usize::MAX], Interpolation::Bilinear(Corners::Aligned)));
    said.says(|| ops::interpolate_backward(&x, [0, 3], Interpolation::Bilinear(Corners::HalfPixel)));
    said.says(|| ops::interpolate_backward(&matrix, [1, 3], nearest));
    // Squares that do not divide.
    said.says(|| ops::pixel_shuffle(&x, 2));
    said.says(|| ops::pixel_shuffle(&x, 0));
    said.says(|| ops::pixel_shuffle(&x, usize::MAX));
    said.says(|| ops::pixel_shuffle(&matrix, 1));
    said.says(|| ops::pixel_unshuffle(&x, 2));
    said.says(|| ops::pixel_unshuffle(&x, 0));
    said.says(|| ops::pixel_unshuffle(&matrix, 1));
    said.compare();
}
