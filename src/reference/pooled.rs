//! Pooling of images with channels last, (batch, height, width, channels), by definition.

use super::bounds::{gamma, sum_tolerance};
use super::elements::{Definition, NORMAL, U};
use crate::gemm::Accumulator;
use crate::layout::Element;
use crate::ops::{PoolDivisor, PoolRounding};

/// The windows of a pooling along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolWindows {
    extent: usize,
    /// The elements of each window, and their number with those in the padding.
    windows: Vec<(Vec<usize>, usize)>,
}

impl PoolWindows {
    /// The windows of an axis of `extent` elements with padding before and after it. Elements of a window are `dilation` apart.
    ///
    /// # Panics
    /// If the stride is 0.
    #[must_use]
    pub fn strided(
        extent: usize,
        [kernel, stride, dilation]: [usize; 3],
        (before, after): (usize, usize),
        rounding: PoolRounding,
    ) -> Self {
        let (length, padded) = (dilation * (kernel - 1) + 1, before + extent + after);
        let is_window = |begin: &usize| match rounding {
            PoolRounding::Floor => begin + length <= padded,
            // The window before does not reach the end, and this one begins within the elements or the padding before them.
            PoolRounding::Ceil => *begin < extent + before && (*begin + length < padded + stride),
        };
        let window = |begin: usize| {
            let taps = (0..kernel).map(|tap| begin + tap * dilation);
            let inside = taps.filter(|tap| (before..before + extent).contains(tap)).map(|tap| tap - before);
            (inside.collect(), (begin + length).min(padded) - begin)
        };
        Self { extent, windows: (0..).step_by(stride).take_while(is_window).map(window).collect() }
    }

    /// Windows that divide an axis into equal parts: window i of n has the elements from $\lfloor i m / n \rfloor$ to before
    /// $\lceil (i + 1) m / n \rceil$ of m.
    #[must_use]
    pub fn adaptive(extent: usize, windows: usize) -> Self {
        let window = |i: usize| {
            let taps: Vec<usize> = (i * extent / windows..((i + 1) * extent).div_ceil(windows)).collect();
            let count = taps.len();
            (taps, count)
        };
        Self { extent, windows: (0..windows).map(window).collect() }
    }

    /// The number of windows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.windows.len()
    }
}

/// A window of an image: its index among the results, the indices of its elements in the tensor and in the image, and its divisors.
struct Window {
    result: usize,
    elements: Vec<[usize; 2]>,
    with_padding: usize,
}

impl Window {
    fn divisor(&self, divisor: PoolDivisor) -> f64 {
        match divisor {
            PoolDivisor::WithPadding => self.with_padding as f64,
            PoolDivisor::WithoutPadding => self.elements.len() as f64,
        }
    }
}

/// Every window of images (batch, channels), in the order of the results.
fn windows(
    [batch, channels]: [usize; 2],
    [rows, columns]: [&PoolWindows; 2],
) -> impl Iterator<Item = Window> {
    let (height, width) = (rows.extent, columns.extent);
    let places = (0..batch).flat_map(move |image| {
        (0..rows.count()).flat_map(move |row| (0..columns.count()).map(move |column| [image, row, column]))
    });
    let window = move |([image, row, column], channel): ([usize; 3], usize)| {
        let (of_row, of_column) = (&rows.windows[row], &columns.windows[column]);
        let result = ((image * rows.count() + row) * columns.count() + column) * channels + channel;
        let elements = of_row.0.iter().flat_map(|i| of_column.0.iter().map(move |j| i * width + j));
        let elements =
            elements.map(|place| [(image * height * width + place) * channels + channel, place]).collect();
        Window { result, elements, with_padding: of_row.1 * of_column.1 }
    };
    places.flat_map(move |place| (0..channels).map(move |channel| (place, channel))).map(window)
}

/// The largest element of each window of images (batch, channels), and its number in the image: of the first of the largest, or of the
/// first NaN. A window without elements is $-\infty$, with the number -1.
///
/// # Panics
/// If the number of elements is not that of the images.
#[must_use]
pub fn max_pool2d<T: Element>(x: &[T], of: [usize; 2], axes: [&PoolWindows; 2]) -> (Vec<T>, Vec<i32>) {
    assert_eq!(x.len(), of[0] * axes[0].extent * axes[1].extent * of[1], "the number of elements");
    let largest = |window: Window| {
        let mut best = (T::from_f64(f64::NEG_INFINITY), -1);
        for [at, place] in window.elements {
            let (value, known) = (x[at].to_f64(), best.0.to_f64());
            if best.1 < 0 || value > known || (value.is_nan() && !known.is_nan()) {
                best = (x[at], i32::try_from(place).unwrap_or(i32::MAX));
            }
        }
        best
    };
    windows(of, axes).map(largest).unzip()
}

/// The gradient of images (batch, channels) from that of [`max_pool2d`]: each element adds the gradients of the windows whose index
/// names it. Within $\gamma_{n} \sum |g| + n 2^{-126}$ of n gradients.
///
/// # Panics
/// If the number of gradients or indices is not that of the windows.
#[must_use]
pub fn max_pool2d_backward<T: Element>(
    g: &[T],
    indices: &[i32],
    of: [usize; 2],
    axes: [&PoolWindows; 2],
) -> Definition {
    let shares = windows(of, axes).flat_map(|window| {
        let named = |[_, place]: &[usize; 2]| i32::try_from(*place) == Ok(indices[window.result]);
        let found: Vec<[usize; 2]> = window.elements.iter().copied().filter(named).collect();
        found.into_iter().map(move |[at, _]| (at, g[window.result].to_f64(), 0.0))
    });
    added(of[0] * axes[0].extent * axes[1].extent * of[1], shares)
}

/// The mean of each window of images (batch, channels). Within $(\gamma_{n} + 5 u) \sum |x| / d + n 2^{-126}$ of n elements and
/// divisor d.
///
/// # Panics
/// If the number of elements is not that of the images.
#[must_use]
pub fn avg_pool2d<T: Element>(
    x: &[T],
    of: [usize; 2],
    axes: [&PoolWindows; 2],
    divisor: PoolDivisor,
) -> Definition {
    assert_eq!(x.len(), of[0] * axes[0].extent * axes[1].extent * of[1], "the number of elements");
    Definition::of(windows(of, axes).map(|window| {
        let (n, divisor) = (window.elements.len(), window.divisor(divisor));
        let values = window.elements.iter().map(|&[at, _]| x[at].to_f64());
        let (sum, size) = values.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        [sum / divisor, (gamma(n) + 5.0 * U) * size / divisor + (n + 1) as f64 * NORMAL]
    }))
}

/// The gradient of images (batch, channels) from that of [`avg_pool2d`]: each element adds the gradients of its windows, each divided by
/// the divisor d of its window. Within $(\gamma_{n} + 5 u) \sum |g| / d + n 2^{-125}$ of n gradients.
///
/// # Panics
/// If the number of gradients is not that of the windows.
#[must_use]
pub fn avg_pool2d_backward<T: Element>(
    g: &[T],
    of: [usize; 2],
    axes: [&PoolWindows; 2],
    divisor: PoolDivisor,
) -> Definition {
    let shares = windows(of, axes).flat_map(|window| {
        let share = g[window.result].to_f64() / window.divisor(divisor);
        window.elements.into_iter().map(move |[at, _]| (at, share, 5.0 * U * share.abs() + NORMAL))
    });
    added(of[0] * axes[0].extent * axes[1].extent * of[1], shares)
}

/// Sums of numbers: the index of an element, a number that it adds, and the error of that number.
pub(super) fn added(len: usize, shares: impl Iterator<Item = (usize, f64, f64)>) -> Definition {
    let mut sums = vec![(0.0, 0.0, 0.0, 0); len];
    for (at, share, error) in shares {
        let (sum, size, errors, count) = &mut sums[at];
        *sum += share;
        *size += share.abs() + error;
        *errors += error;
        *count += 1;
    }
    let of = |(sum, size, errors, count)| [sum, errors + sum_tolerance(count, size, Accumulator::F32)];
    Definition::of(sums.into_iter().map(of))
}
