//! Losses of elements and their gradients by definition.

use super::bounds::gamma;
use super::elements::{Definition, NORMAL, U};
use crate::layout::Element;
use crate::ops::Reduction;

/// The definitions of [`ops::mse`](crate::ops::mse), [`ops::l1`](crate::ops::l1), [`ops::huber`](crate::ops::huber) and
/// [`ops::bce_with_logits`](crate::ops::bce_with_logits) in f64, with error bounds of the kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LossReference {
    /// $(x - t)^2$.
    Mse,
    /// $|x - t|$.
    L1,
    /// $d^2 / 2$ with $d = x - t$ if $|d|$ is at most $\delta$, otherwise $\delta (|d| - \delta / 2)$.
    Huber {
        /// $\delta$.
        delta: f64,
    },
    /// $(1 - t) \ln(1 + e^x) + w t \ln(1 + e^{-x})$.
    BceWithLogits,
}

/// Values of [`LossReference`].
#[derive(Clone, Debug)]
pub struct LossValues {
    /// The loss: one value, or one for each element.
    pub loss: Definition,
    /// The gradient with respect to x.
    pub gradient: Definition,
}

impl LossReference {
    /// The loss of x with these targets, and its gradient, where `g` is the gradient with respect to the loss: one number, or
    /// one for each element. `weights` has one or one for each element; only the last loss uses them.
    ///
    /// With $u = 2^{-23}$, a loss is within $4 u$ of itself (a squared error has three roundings, Huber's four), relative to
    /// itself plus, for Huber's, $\delta^2$. The cross-entropy's two terms are within $14 u$ each: ten of the logarithm, and four
    /// of the factors and the sum. The slopes are within $2 u$, and $16 u$ of the two terms. A sum of n losses adds $\gamma_{n}$
    /// of the sum of their sizes, a mean and a gradient four more roundings. Terms of $2^{-126}$ cover values that are flushed to
    /// zero.
    ///
    /// # Panics
    /// If the lengths do not match.
    #[must_use]
    pub fn run<T: Element>(
        self,
        [x, target]: [&[T]; 2],
        weights: &[f64],
        g: &[f64],
        reduction: Reduction,
    ) -> LossValues {
        assert_eq!(x.len(), target.len(), "the operands must have the same length");
        let at = |all: &[f64], i: usize| all[if all.len() == 1 { 0 } else { i }];
        let entries: Vec<[[f64; 2]; 2]> = x
            .iter()
            .zip(target)
            .enumerate()
            .map(|(i, (x, t))| self.entry(x.to_f64(), t.to_f64(), at(weights, i)))
            .collect();
        let n = entries.len();
        let factor = if reduction == Reduction::Mean { 1.0 / n as f64 } else { 1.0 };
        let gradient = entries.iter().enumerate().map(|(i, [_, [slope, off]])| {
            let scale = factor * at(g, i);
            let value = slope * scale;
            [
                value,
                off * scale.abs() * (1.0 + 4.0 * U)
                    + 4.0 * U * value.abs()
                    + 4.0 * NORMAL * (1.0 + slope.abs()),
            ]
        });
        let gradient = Definition::of(gradient);
        let losses = entries.iter().map(|[loss, _]| *loss);
        let loss = if reduction == Reduction::None {
            Definition::of(losses)
        } else {
            let [sum, size, off] = losses
                .fold([0.0; 3], |[sum, size, all], [loss, off]| [sum + loss, size + loss.abs(), all + off]);
            let off = (off + gamma(n + 4) * (size + off) + n as f64 * NORMAL) * factor;
            Definition::of([[sum * factor, off + NORMAL]].into_iter())
        };
        LossValues { loss, gradient }
    }

    /// The loss of an element and its derivative, each with its error bound.
    fn entry(self, x: f64, t: f64, weight: f64) -> [[f64; 2]; 2] {
        let d = x - t;
        let flushed = 4.0 * NORMAL * (1.0 + d.abs());
        match self {
            Self::Mse => [[d * d, 4.0 * U * d * d + flushed], [2.0 * d, 2.0 * U * d.abs() + flushed]],
            Self::L1 => {
                let sign = if d == 0.0 { d } else { d.signum() };
                [[d.abs(), 2.0 * U * d.abs() + flushed], [sign, 0.0]]
            }
            Self::Huber { delta } => {
                let is_inner = d.abs() <= delta;
                let loss = if is_inner { 0.5 * d * d } else { delta * (d.abs() - 0.5 * delta) };
                // Near the joint of the two formulas, the computed distance may be on the other side. There the other
                // formula is equally close.
                let off = 4.0 * U * (loss.abs() + delta * d.abs().min(2.0 * delta)) + flushed * (1.0 + delta);
                [[loss, off], [d.clamp(-delta, delta), 2.0 * U * d.abs().min(2.0 * delta) + flushed]]
            }
            Self::BceWithLogits => {
                let [upper, lower] = [x, -x].map(|x| x.max(0.0) + (-x.abs()).exp().ln_1p());
                let [rises, falls] = [x, -x].map(|x| 1.0 / (1.0 + (-x).exp()));
                let (loss, slope) =
                    ([(1.0 - t) * upper, weight * t * lower], [(1.0 - t) * rises, -weight * t * falls]);
                let size = |terms: [f64; 2]| terms[0].abs() + terms[1].abs();
                let flushed = 8.0 * NORMAL * (1.0 + t.abs()) * (1.0 + weight.abs()) * (1.0 + x.abs());
                // 1 - t is rounded.
                let loss_off = 14.0 * U * size(loss) + U * (1.0 + t.abs()) * upper + flushed;
                let slope_off = 16.0 * U * size(slope) + U * (1.0 + t.abs()) * rises + flushed;
                [[loss[0] + loss[1], loss_off], [slope[0] + slope[1], slope_off]]
            }
        }
    }
}
