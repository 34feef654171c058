//! Cross-entropy and its gradient by definition.

use super::bounds::gamma;
use super::elements::{Definition, NORMAL, U};
use crate::layout::Element;
use crate::ops::Reduction;

/// The definition of [`ops::CrossEntropy`](crate::ops::CrossEntropy) in f64, with error bounds of the kernels.
///
/// Let $u = 2^{-23}$. Of a row of n logits let $d_{c}$ be the distances to its maximum, $p = \mathrm{softmax}$,
/// $S = \sum_{c} e^{d_{c}}$ and $q_{c}$ the weighted probabilities of the target. As in
/// [`reference::softmax`](super::softmax), the computed S is within $\varepsilon = \gamma_{n} + u \sum_{c} p_{c} (|d_{c}| + 8)$
/// of S, relative to it, so $\ln S$ is within $\lambda = \varepsilon / (1 - \varepsilon) + 8 u \ln S$. Each $q_{c}$ is rounded at
/// most four times. Therefore the loss $\sum_{c} q_{c} (\ln S - d_{c})$ is within
/// $$\lambda \sum |q_{c}| + \gamma_{n + 6} \sum |q_{c}| (\ln S + |d_{c}|) + u |l|,$$
/// and the slope $p_{c} \sum q - q_{c}$ within
/// $$(\varepsilon + (|d_{c}| + 13) u + \gamma_{n + 4})\\, p_{c} \sum |q| + 5 u |q_{c}| + u |p_{c} \textstyle\sum q - q_{c}|.$$
/// A mean or sum of losses adds $\gamma$ of their number, and so does the sum of the targets' weights; a gradient adds eight
/// roundings of its scale. Terms of $2^{-126}$ cover values that are flushed to zero.
#[derive(Clone, Debug, Default)]
pub struct CrossEntropyReference {
    /// The number of classes.
    pub classes: usize,
    /// A weight for each class; empty if there are none.
    pub weights: Vec<f64>,
    /// The label smoothing.
    pub smoothing: f64,
    /// The class of rows that do not count.
    pub ignored: Option<i32>,
    /// The result for several rows: mean, sum, or each loss.
    pub reduction: Reduction,
}

/// Targets of [`CrossEntropyReference`].
#[derive(Clone, Copy, Debug)]
pub enum TargetValues<'a> {
    /// The class of each row.
    Classes(&'a [i32]),
    /// The probability of each class in each row.
    Probabilities(&'a [f64]),
}

/// Values of [`CrossEntropyReference`].
#[derive(Clone, Debug)]
pub struct CrossEntropyValues {
    /// The loss: one value, or one for each row.
    pub loss: Definition,
    /// The logarithm of the sum of exponentials of each row.
    pub log_sums: Definition,
    /// The gradient with respect to the logits.
    pub gradient: Definition,
}

/// Values of one row, each with its error bound.
struct LossRow {
    loss: [f64; 2],
    log_sum: [f64; 2],
    /// The derivatives of the loss.
    slopes: Vec<[f64; 2]>,
    /// The weight of the target.
    weight: f64,
}

impl CrossEntropyReference {
    /// The loss and its gradient, where `g` is the gradient with respect to the loss: one number, or one for each row.
    ///
    /// # Panics
    /// If the lengths do not match.
    #[must_use]
    pub fn run<T: Element>(&self, logits: &[T], targets: TargetValues<'_>, g: &[f64]) -> CrossEntropyValues {
        let rows: Vec<LossRow> = logits
            .chunks(self.classes)
            .enumerate()
            .map(|(at, row)| {
                let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
                let (shares, weight, counts) = self.shares(targets, at);
                self.row(&row, &shares, weight, counts)
            })
            .collect();
        let n = rows.len();
        let [counted, of_counted] = match (self.reduction, targets) {
            (Reduction::Mean, TargetValues::Classes(_)) => {
                let sums = rows.iter().map(|row| [row.weight, row.weight.abs()]);
                let [sum, size] = sums.fold([0.0; 2], |[a, b], [x, y]| [a + x, b + y]);
                [sum, gamma(n) * size]
            }
            (Reduction::Mean, TargetValues::Probabilities(_)) => [n as f64, 0.0],
            (Reduction::Sum | Reduction::None, _) => [1.0, 0.0],
        };
        let relative = of_counted / counted.abs();
        // If nothing counts, the loss and the gradient are 0.
        let scaled = |[value, off]: [f64; 2], by: f64| {
            if counted == 0.0 {
                return [if value.is_nan() { value } else { 0.0 }, 0.0];
            }
            let result = value * by / counted;
            [
                result,
                off * (by / counted).abs() * (1.0 + relative) + result.abs() * (8.0 * U + 1.001 * relative),
            ]
        };
        let gradient = rows.iter().enumerate().flat_map(|(at, row)| {
            let g = g[if g.len() == 1 { 0 } else { at }];
            row.slopes.iter().map(move |&slope| {
                let [value, off] = scaled(slope, g);
                [value, off + 4.0 * NORMAL * (1.0 + g.abs())]
            })
        });
        let gradient = Definition::of(gradient.collect::<Vec<_>>().into_iter());
        let loss = if self.reduction == Reduction::None {
            Definition::of(rows.iter().map(|row| row.loss))
        } else {
            let all = rows.iter().fold([0.0; 3], |[sum, size, off], row| {
                [sum + row.loss[0], size + row.loss[0].abs(), off + row.loss[1]]
            });
            let [sum, size, off] = all;
            let [value, off] = scaled([sum, off + gamma(n) * size], 1.0);
            Definition::of([[value, off + n as f64 * NORMAL]].into_iter())
        };
        CrossEntropyValues { loss, log_sums: Definition::of(rows.iter().map(|row| row.log_sum)), gradient }
    }

    /// The weighted probabilities of a row's target, the weight of its class, and the factor of the row: 1, 0 if it is
    /// ignored, NaN if there is no such class.
    fn shares(&self, targets: TargetValues<'_>, at: usize) -> (Vec<f64>, f64, f64) {
        let weight = |class: usize| if self.weights.is_empty() { 1.0 } else { self.weights[class] };
        let spread = self.smoothing / self.classes as f64;
        let share = |class: usize, target: f64| weight(class) * ((1.0 - self.smoothing) * target + spread);
        match targets {
            TargetValues::Probabilities(all) => {
                let row = &all[at * self.classes..(at + 1) * self.classes];
                (row.iter().enumerate().map(|(class, &target)| share(class, target)).collect(), 1.0, 1.0)
            }
            TargetValues::Classes(all) => {
                let class = usize::try_from(all[at]).ok().filter(|&class| class < self.classes);
                let is_ignored = self.ignored == Some(all[at]);
                let shares = (0..self.classes).map(|c| share(c, if Some(c) == class { 1.0 } else { 0.0 }));
                let of_class = class.filter(|_| !is_ignored).map_or(0.0, weight);
                let counts = if is_ignored { 0.0 } else { class.map_or(f64::NAN, |_| 1.0) };
                (shares.collect(), of_class, counts)
            }
        }
    }

    fn row(&self, x: &[f64], shares: &[f64], weight: f64, counts: f64) -> LossRow {
        let n = x.len();
        let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = x.iter().map(|x| (x - top).exp()).sum();
        let exponent = |x: f64| (top - x).min(105.0) + 8.0;
        let common: f64 = x.iter().map(|&x| (x - top).exp() / sum * exponent(x)).sum();
        let of_sum = gamma(n) + U * common + 2.0 * n as f64 * NORMAL;
        let logarithm = sum.ln();
        let of_logarithm = of_sum / (1.0 - of_sum) + 8.0 * U * logarithm.abs();
        let log_sum = top + logarithm;
        // A class of probability 0 does not affect the loss.
        let parts = || shares.iter().zip(x).filter(|(share, _)| **share != 0.0);
        let loss: f64 = parts().map(|(share, x)| share * (logarithm - (x - top))).sum();
        let all: f64 = shares.iter().sum();
        let size: f64 = shares.iter().map(|share| share.abs()).sum();
        let far: f64 = parts().map(|(share, x)| share.abs() * (logarithm + (top - x).abs())).sum();
        let flushed = 2.0 * n as f64 * NORMAL * (1.0 + size);
        let off = of_logarithm * size + gamma(n + 6) * far + U * loss.abs() + flushed;
        let slopes = x.iter().zip(shares).map(|(&x, &share)| {
            let p = (x - top).exp() / sum;
            let slope = p * all - share;
            let relative = of_sum + U * (exponent(x) + 5.0) + gamma(n + 4);
            let off = p * size * relative / (1.0 - relative) + 5.0 * U * share.abs() + U * slope.abs();
            if counts == 0.0 { [0.0; 2] } else { [slope * counts, off + flushed] }
        });
        LossRow {
            loss: if counts == 0.0 { [0.0; 2] } else { [loss * counts, off] },
            log_sum: [log_sum, of_logarithm + U * log_sum.abs() + NORMAL],
            slopes: slopes.collect(),
            weight,
        }
    }
}
