//! The epilogue of a matrix product by definition, and the error bound of a kernel.

use super::activation::{activate, activation_tolerance};
use super::elements::U;
use crate::ops::Activation;

/// The epilogue of one element of a product: activation($\alpha s + p + b$) + $r$, where $s$ is the sum over k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpilogueReference {
    /// $\alpha$.
    pub alpha: f64,
    /// $p$: $\beta$ times the previous value of C.
    pub previous: f64,
    /// $b$.
    pub bias: f64,
    /// $r$.
    pub residual: f64,
    /// The activation.
    pub activation: Activation,
}

impl Default for EpilogueReference {
    /// The sum unchanged.
    fn default() -> Self {
        Self { alpha: 1.0, previous: 0.0, bias: 0.0, residual: 0.0, activation: Activation::None }
    }
}

impl EpilogueReference {
    /// The element's value, and a bound on the error of a kernel that computes it in f32, before it is stored. The
    /// kernel's sum is within `off` of `sum`.
    ///
    /// The argument of the activation is a sum of three terms, and two of them are products. Each term is rounded at
    /// most four times, so with $u = 2^{-23}$ the argument is within $\delta = |\alpha| d + 4 u\\,(|\alpha| (|s| + d) +
    /// |p| + |b|) + 2^{-124}$, $d$ for `off`; the last term is for flushed subnormals. Adding the residual rounds once
    /// more.
    #[must_use]
    pub fn apply(&self, sum: f64, off: f64) -> (f64, f64) {
        let Self { alpha, previous, bias, residual, activation } = *self;
        let z = alpha * sum + previous + bias;
        let magnitude = alpha.abs() * (sum.abs() + off) + previous.abs() + bias.abs();
        let dz = alpha.abs() * off + 4.0 * U * magnitude + 2f64.powi(-124);
        let (value, moved) = (activate(activation, z), activation_tolerance(activation, z, dz));
        (value + residual, moved + U * (value.abs() + moved + residual.abs()))
    }
}
