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

/// An activation's slope in f64; of relu 0 at 0.
#[must_use]
pub fn activation_slope(activation: Activation, x: f64) -> f64 {
    let [first, second] = slope_terms(activation, x);
    first + second
}

/// How far a slope that a kernel computes in f32 may be from [`activation_slope`]: $r u$ times the sum of its terms'
/// magnitudes with $u = 2^{-23}$, and $2^{-117}$ for exponentials that a driver flushes to zero before they are
/// multiplied. The terms are $\Phi(x)$ and $x \varphi(x)$ of gelu, $\sigma(w)$ and $x \sigma(w) \sigma(-w) w'$ of the
/// others. r is 0 for none and relu, 24 for the others; for gelu $24 + 2 x^2$ and for gelu by tanh $24 + 8 w$, whose
/// exponentials have rounded arguments.
#[must_use]
pub fn slope_tolerance(activation: Activation, x: f64) -> f64 {
    let units = match activation {
        Activation::None | Activation::Relu => return 0.0,
        Activation::Sigmoid | Activation::Tanh | Activation::Silu => 24.0,
        Activation::Gelu => 24.0 + 2.0 * x.abs().min(15.0).powi(2),
        Activation::GeluTanh => 24.0 + 16.0 * tanh_argument(x.abs().min(20.0)),
    };
    let magnitude: f64 = slope_terms(activation, x).into_iter().map(f64::abs).sum();
    units * 2f64.powi(-23) * magnitude + 2f64.powi(-117)
}

/// What a slope is the sum of.
fn slope_terms(activation: Activation, x: f64) -> [f64; 2] {
    // Where it is the limit, infinity times 0 would not be.
    let bounded = x.clamp(-200.0, 200.0);
    match activation {
        Activation::None => [1.0, 0.0],
        Activation::Relu if x.is_nan() => [x, 0.0],
        Activation::Relu => [if x > 0.0 { 1.0 } else { 0.0 }, 0.0],
        Activation::Gelu => {
            let density = (-0.5 * bounded * bounded).exp() / (2.0 * PI).sqrt();
            [0.5 * libm::erfc(-x * FRAC_1_SQRT_2), bounded * density]
        }
        Activation::GeluTanh => {
            let (w, rises) =
                (2.0 * tanh_argument(bounded), (8.0 / PI).sqrt() * (1.0 + 0.134145 * bounded * bounded));
            [sigmoid(w), bounded * sigmoid(w) * sigmoid(-w) * rises]
        }
        Activation::Silu => [sigmoid(bounded), bounded * sigmoid(bounded) * sigmoid(-bounded)],
        Activation::Sigmoid => [sigmoid(x) * sigmoid(-x), 0.0],
        Activation::Tanh => [4.0 * sigmoid(2.0 * x) * sigmoid(-2.0 * x), 0.0],
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn tanh_argument(x: f64) -> f64 {
    (2.0 / PI).sqrt() * (x + 0.044715 * x * x * x)
}
