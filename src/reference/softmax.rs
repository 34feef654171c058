//! Softmax, its logarithm and their gradients, by definition. All are along the middle of three axes of a contiguous tensor: (outer,
//! length, inner).

use super::bounds::{gamma, sum_tolerance};
use super::elements::{Definition, NORMAL, U};
use super::lines::along_lines;
use crate::gemm::Accumulator;
use crate::layout::Element;

/// A softmax of $s_{i} = c x_{i} + m_{i}$ along the middle of three axes, with a scale $c$ and a mask $m$.
///
/// Let $u = 2^{-23}$, $n$ the length, and $d_{i}$ the distances to a row's maximum, limited to 105, since larger ones have no
/// exponential in f32. The error of a score is at most $\delta_{i} = 2 u (|c x_{i}| + |m_{i}|)$, or 0 if $c = 1$ and there is no
/// mask. The relative errors are: of an exponential and its rescaling to another maximum $(d_{i} + 17) u$, from the rounding of
/// distances and the evaluation; of the sum of exponentials $\sigma = \gamma_{4 n + 80} + \sum_{j} p_{j} (d_{j} + 8) u$, because
/// it is rescaled at most $n / 4 + 8$ times; of the division $3 u$; and of the scores $\delta_{i} + \sum_{j} p_{j} \delta_{j}$.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftmaxReference {
    /// The elements.
    pub x: Vec<f64>,
    /// The mask, with the same number of elements.
    pub mask: Option<Vec<f64>>,
    /// The scale.
    pub scale: f64,
    /// The three extents: outer, length, inner.
    pub shape: [usize; 3],
}

/// The common numbers of the results of a row.
struct SoftmaxRow {
    scores: Vec<f64>,
    /// The errors of the scores.
    off: Vec<f64>,
    top: f64,
    total: f64,
    /// The relative error of the sum of exponentials, and that of its scores.
    relative: f64,
}

impl SoftmaxReference {
    /// A softmax without mask and scale.
    #[must_use]
    pub fn new<T: Element>(x: &[T], shape: [usize; 3]) -> Self {
        Self { x: x.iter().map(|x| x.to_f64()).collect(), mask: None, scale: 1.0, shape }
    }

    /// The probabilities: with the sum $\varepsilon$ of the relative errors, within
    /// $p_{i} \varepsilon / (1 - \varepsilon) + n 2^{-125}$. The last term covers exponentials and results that are flushed to zero.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    #[must_use]
    pub fn softmax(&self) -> Definition {
        self.along(|row, i| {
            let value = row.probability(i);
            let relative = U * (row.distance(i) + 20.0) + row.off[i] + row.relative;
            [value, value * relative / (1.0 - relative) + 2.0 * row.scores.len() as f64 * NORMAL]
        })
    }

    /// Their logarithms $l_{i}$, within
    /// $u (3 (t - s_{i}) + 10 \ln n + 3 |l_{i}|) + \delta_{i} + \sum_{j} p_{j} \delta_{j} + 2 \sigma$, where $t$ is the largest score.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    #[must_use]
    pub fn log_softmax(&self) -> Definition {
        self.along(|row, i| {
            let value = row.scores[i] - row.top - row.total.ln();
            let from_top = row.top - row.scores[i];
            let rounding = U * (3.0 * from_top + 10.0 * row.total.ln() + 3.0 * value.abs());
            [value, rounding + row.off[i] + 2.0 * row.relative + NORMAL]
        })
    }

    fn along(&self, entry: impl Fn(&SoftmaxRow, usize) -> [f64; 2]) -> Definition {
        along_lines(self.x.len(), self.shape, |places| {
            let row = self.row(places);
            (0..places.len()).map(|i| entry(&row, i)).collect()
        })
    }

    fn row(&self, places: &[usize]) -> SoftmaxRow {
        let mask = |place: usize| self.mask.as_ref().map_or(0.0, |mask| mask[place]);
        let scores: Vec<f64> = places.iter().map(|&at| self.x[at] * self.scale + mask(at)).collect();
        let is_exact = self.mask.is_none() && self.scale.to_bits() == 1.0f64.to_bits();
        let off_by = |(&place, score): (&usize, &f64)| {
            let size = (self.x[place] * self.scale).abs() + mask(place).abs();
            if is_exact || !score.is_finite() { 0.0 } else { 2.0 * U * size }
        };
        let off: Vec<f64> = places.iter().zip(&scores).map(off_by).collect();
        // NOTE: `max` ignores NaN, but the sum does not.
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|x| (x - top).exp()).sum();
        let mut row = SoftmaxRow { scores, off, top, total, relative: 0.0 };
        let n = places.len();
        let weighted = (0..n).map(|i| row.probability(i) * (U * (row.distance(i) + 8.0) + row.off[i]));
        row.relative = gamma(4 * n + 80) + weighted.sum::<f64>();
        row
    }
}

impl SoftmaxRow {
    fn probability(&self, i: usize) -> f64 {
        (self.scores[i] - self.top).exp() / self.total
    }

    /// The distance to the maximum, limited to the largest one with an effect.
    fn distance(&self, i: usize) -> f64 {
        (self.top - self.scores[i]).min(105.0)
    }
}

/// Softmax along the middle of three axes, within the tolerance of [`SoftmaxReference::softmax`].
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn softmax<T: Element>(x: &[T], shape: [usize; 3]) -> Definition {
    SoftmaxReference::new(x, shape).softmax()
}

/// The logarithm of the softmax along the middle of three axes, within the tolerance of [`SoftmaxReference::log_softmax`].
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn log_softmax<T: Element>(x: &[T], shape: [usize; 3]) -> Definition {
    SoftmaxReference::new(x, shape).log_softmax()
}

/// The gradient of a softmax along the middle of three axes, from its result $y$ and the gradient $g$ of that:
/// $y_{i} (g_{i} - s)$ with $s = \sum_{j} g_{j} y_{j}$. The sum is within $t = \gamma_{n + 1} \sum_{j} |g_{j} y_{j}| + 2 n 2^{-126}$,
/// and the result within $|y_{i}| (t + 3 u (|g_{i}| + |s| + t)) + 2^{-126} (1 + |y_{i}| + |g_{i}| + |s|)$ with $u = 2^{-23}$.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn softmax_backward<T: Element>(y: &[T], g: &[T], shape: [usize; 3]) -> Definition {
    gradients(y, g, shape, |ys, gs| {
        let terms = ys.iter().zip(gs).map(|(y, g)| y * g);
        let (sum, magnitude) = terms.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
        let n = ys.len();
        let off = sum_tolerance(n + 1, magnitude, Accumulator::F32) + n as f64 * NORMAL;
        let entry = |(y, g): (&f64, &f64)| {
            let rounding = 3.0 * U * (g.abs() + sum.abs() + off);
            [y * (g - sum), y.abs() * (off + rounding) + NORMAL * (1.0 + y.abs() + g.abs() + sum.abs())]
        };
        ys.iter().zip(gs).map(entry).collect()
    })
}

/// The gradient of the logarithm of a softmax along the middle of three axes, from its result $y$ and the gradient $g$ of that:
/// $g_{i} - e^{y_{i}} s$ with $s = \sum_{j} g_{j}$. The sum is within $t = \gamma_{n} \sum_{j} |g_{j}| + n 2^{-126}$, and the
/// result within $e^{y_{i}} (t + 10 u (|s| + t)) + 2 u (|g_{i}| + e^{y_{i}} |s|) + 2^{-126} (2 + |s|)$ with $u = 2^{-23}$.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn log_softmax_backward<T: Element>(y: &[T], g: &[T], shape: [usize; 3]) -> Definition {
    gradients(y, g, shape, |ys, gs| {
        let (sum, magnitude) = gs.iter().fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
        let off = sum_tolerance(ys.len(), magnitude, Accumulator::F32);
        let entry = |(y, g): (&f64, &f64)| {
            let (e, size) = (y.exp(), f64::abs(sum));
            let tolerance = e * (off + 10.0 * U * (size + off)) + 2.0 * U * (g.abs() + e * size);
            [g - e * sum, tolerance + NORMAL * (2.0 + size)]
        };
        ys.iter().zip(gs).map(entry).collect()
    })
}

/// The gradients of all rows along the middle of three axes.
fn gradients<T: Element>(
    y: &[T],
    g: &[T],
    shape: [usize; 3],
    of_row: impl Fn(&[f64], &[f64]) -> Vec<[f64; 2]>,
) -> Definition {
    assert_eq!(y.len(), g.len(), "the number of elements");
    along_lines(y.len(), shape, |places| {
        let [ys, gs] = [y, g].map(|x| places.iter().map(|&place| x[place].to_f64()).collect::<Vec<f64>>());
        of_row(&ys, &gs)
    })
}
