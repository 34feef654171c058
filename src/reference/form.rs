//! What becomes of a product by definition, and how far a kernel may be from it.

use super::activation::{activate, activation_tolerance};
use crate::ops::Activation;

/// Unit roundoff of f32 where a driver may truncate.
const U: f64 = 1.0 / (1 << 23) as f64;

/// What becomes of one element of a product: activation($\alpha s + p + b$) + $r$ of its sum $s$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Form {
    /// $\alpha$.
    pub alpha: f64,
    /// $p$: $\beta$ times what C held before.
    pub previous: f64,
    /// $b$.
    pub bias: f64,
    /// $r$.
    pub residual: f64,
    /// What is applied.
    pub activation: Activation,
}

impl Default for Form {
    /// The sum as it is.
    fn default() -> Self {
        Self { alpha: 1.0, previous: 0.0, bias: 0.0, residual: 0.0, activation: Activation::None }
    }
}

impl Form {
    /// The element's value, and how far a kernel that computes it in f32 from a sum within `off` of `sum` may be from it,
    /// before it is stored.
    ///
    /// The argument of the activation is a sum of three terms of which two are products: each term is rounded at most
    /// four times, so with $u = 2^{-23}$ the argument is within $\delta = |\alpha| d + 4 u\,(|\alpha| (|s| + d) + |p| + |b|)
    /// + 2^{-124}$, $d$ for `off`; the last term is for flushed subnormals. Adding the residual rounds once more.
    #[must_use]
    pub fn of(&self, sum: f64, off: f64) -> (f64, f64) {
        let Self { alpha, previous, bias, residual, activation } = *self;
        let z = alpha * sum + previous + bias;
        let magnitude = alpha.abs() * (sum.abs() + off) + previous.abs() + bias.abs();
        let dz = alpha.abs() * off + 4.0 * U * magnitude + 2f64.powi(-124);
        let (value, moved) = (activate(activation, z), activation_tolerance(activation, z, dz));
        (value + residual, moved + U * (value.abs() + moved + residual.abs()))
    }
}
