//! Activations by definition, and how far the shaders' may be from them.

use crate::ops::Activation;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// An activation's value in f64. At minus infinity it is the limit.
#[must_use]
pub fn activate(activation: Activation, x: f64) -> f64 {
    match activation {
        // A product that is 0 at minus infinity, where the factors are not.
        Activation::Gelu | Activation::GeluTanh | Activation::Silu if x == f64::NEG_INFINITY => -0.0,
        Activation::Relu if x <= 0.0 => 0.0,
        Activation::None | Activation::Relu => x,
        Activation::Gelu => x * 0.5 * libm::erfc(-x * FRAC_1_SQRT_2),
        Activation::GeluTanh => x * sigmoid(2.0 * tanh_argument(x)),
        Activation::Silu => x * sigmoid(x),
        Activation::Sigmoid => sigmoid(x),
        Activation::Tanh => x.tanh(),
    }
}

/// How much an activation's values differ at most, over the difference of their arguments.
#[must_use]
pub fn activation_lipschitz(activation: Activation) -> f64 {
    match activation {
        Activation::None | Activation::Relu | Activation::Tanh => 1.0,
        Activation::Sigmoid => 0.25,
        Activation::Gelu | Activation::GeluTanh => 1.129, // at sqrt 2, and close to it
        Activation::Silu => 1.0999,
    }
}

/// How far an activation that a kernel computes in f32, of an argument within `dz` of `z`, may be from its value at
/// `z`. With the Lipschitz constant $L$ and $u = 2^{-23}$ it is
/// $$L\,dz + r u\,(|f(z)| + L\,dz) + 2^{-119},$$
/// where $r$ is 0 for none and relu, 8 for the sigmoid and tanh, 10 for the products gelu and silu. Gelu by tanh takes
/// its exponential, of $w = 2 \sqrt{2 / \pi}\,(|z| + 0.044715 |z|^3)$, from an argument that is rounded:
/// $r = 10 + 4 w$. The last term is for an exponential below $2^{-126}$ that a driver flushes to zero before it is
/// multiplied by z. `z` and `dz` must be finite.
#[must_use]
pub fn activation_tolerance(activation: Activation, z: f64, dz: f64) -> f64 {
    let moved = activation_lipschitz(activation) * dz;
    let units = match activation {
        Activation::None | Activation::Relu => return moved,
        Activation::Sigmoid | Activation::Tanh => 8.0,
        Activation::Gelu | Activation::Silu => 10.0,
        // Beyond 20 the kernel knows that the sigmoid is 0 or 1.
        Activation::GeluTanh => 10.0 + 8.0 * tanh_argument((z.abs() + dz).min(20.0)),
    };
    moved + units * 2f64.powi(-23) * (activate(activation, z).abs() + moved) + 2f64.powi(-119)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn tanh_argument(x: f64) -> f64 {
    (2.0 / PI).sqrt() * (x + 0.044715 * x * x * x)
}
