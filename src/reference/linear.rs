//! The backward pass of a linear layer by definition.

use super::activation::{activation_slope, slope_tolerance};
use super::bounds::{gamma, store_tolerance};
use super::elements::{Definition, NORMAL, U};
use crate::layout::Element;
use crate::ops::Activation;

/// A linear layer's backward pass in f64, with error bounds of the kernels: [`linear_backward`](crate::gemm::linear_backward).
///
/// With z the sums before the activation f, $h = g \circ f'(z)$ is computed in f32 within $d = |g|$ times [`slope_tolerance`]
/// and a rounding, and stored, which adds [`store_tolerance`]. The gradients are products with h. So the gradient of x is
/// within $(d\\,|W|)\_{ij} + \gamma_{k} ((|h| + d)|W|)\_{ij}$ with k outputs. The bounds for the weight and the bias are the
/// same with x and with ones in place of W, and with one term for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearReference {
    /// Features of x and y.
    pub features: [usize; 2],
    /// The weight (out, in).
    pub weight: Vec<f64>,
    /// The activation.
    pub activation: Activation,
}

/// The gradients of [`LinearReference`].
#[derive(Clone, Debug, PartialEq)]
pub struct LinearDefinitions {
    /// Gradient of x, (batch, in).
    pub x: Definition,
    /// Gradient of the weight, (out, in).
    pub weight: Definition,
    /// Gradient of the bias, (out).
    pub bias: Definition,
}

impl LinearReference {
    /// The gradients for rows of `x` (batch, in), the sums before the activation and the gradient `g` of the output, both
    /// (batch, out).
    ///
    /// # Panics
    /// May panic if the lengths do not match the sizes.
    #[must_use]
    pub fn backward<T: Element>(&self, x: &[T], sums: &[T], g: &[T]) -> LinearDefinitions {
        let [inputs, outputs] = self.features;
        let batch = g.len() / outputs;
        let h: Vec<[f64; 2]> = sums.iter().zip(g).map(|(z, g)| self.slope(z, g)).collect();
        let of = |entry: [f64; 2], by: f64, terms: usize| {
            let [value, off] = entry;
            [value * by, (off + gamma(terms) * (value.abs() + off)) * by.abs() + NORMAL * (1.0 + by.abs())]
        };
        let add = |terms: &mut dyn Iterator<Item = [f64; 2]>| {
            terms.fold([0.0; 2], |[value, off], [term, of_term]| [value + term, off + of_term])
        };
        let of_x = (0..batch * inputs).map(|at| {
            let (row, column) = (at / inputs, at % inputs);
            add(&mut (0..outputs)
                .map(|k| of(h[row * outputs + k], self.weight[k * inputs + column], outputs)))
        });
        let of_weight = (0..outputs * inputs).map(|at| {
            let (k, column) = (at / inputs, at % inputs);
            add(&mut (0..batch).map(|row| of(h[row * outputs + k], x[row * inputs + column].to_f64(), batch)))
        });
        let of_bias =
            (0..outputs).map(|k| add(&mut (0..batch).map(|row| of(h[row * outputs + k], 1.0, batch))));
        LinearDefinitions {
            x: Definition::of(of_x),
            weight: Definition::of(of_weight),
            bias: Definition::of(of_bias),
        }
    }

    /// The slope times the gradient, stored as `T`, with its error bound.
    fn slope<T: Element>(&self, z: &T, g: &T) -> [f64; 2] {
        let (z, g) = (z.to_f64(), g.to_f64());
        if self.activation == Activation::None {
            return [g, 0.0];
        }
        let (slope, off) = (activation_slope(self.activation, z), slope_tolerance(self.activation, z));
        let value = slope * g;
        let off = (off + U * (slope.abs() + off)) * g.abs() + NORMAL * (1.0 + slope.abs() + g.abs());
        [value, off + store_tolerance(value.abs() + off, T::DTYPE)]
    }
}
