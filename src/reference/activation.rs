//! Activations by definition, and error bounds of the shaders' activations.

use crate::ops::Activation;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The value of an activation in f64. At minus infinity it is the limit.
#[must_use]
pub fn activate(activation: Activation, x: f64) -> f64 {
    match activation {
        // The limit at minus infinity, where the product of the factors is NaN.
        Activation::Gelu
        | Activation::GeluTanh
        | Activation::Silu
        | Activation::Mish
        | Activation::QuickGelu
            if x == f64::NEG_INFINITY =>
        {
            -0.0
        }
        Activation::Relu if x <= 0.0 => 0.0,
        Activation::None | Activation::Relu => x,
        Activation::Gelu => x * 0.5 * libm::erfc(-x * FRAC_1_SQRT_2),
        Activation::GeluTanh => x * sigmoid(2.0 * tanh_argument(x)),
        Activation::Silu => x * sigmoid(x),
        Activation::Sigmoid => sigmoid(x),
        Activation::Tanh => x.tanh(),
        Activation::Softplus => softplus(x),
        Activation::Elu if x <= 0.0 => x.exp_m1(),
        Activation::LeakyRelu if x <= 0.0 => LEAK * x,
        Activation::Elu | Activation::LeakyRelu => x,
        Activation::Mish => x * softplus(x).tanh(),
        Activation::Hardswish if x <= -3.0 => -0.0,
        Activation::Hardswish if x >= 3.0 => x,
        Activation::Hardswish => x * (x + 3.0) / 6.0,
        Activation::QuickGelu => x * sigmoid(QUICK * x),
    }
}

/// The Lipschitz constant of an activation.
#[must_use]
pub fn activation_lipschitz(activation: Activation) -> f64 {
    match activation {
        Activation::None
        | Activation::Relu
        | Activation::Tanh
        | Activation::Softplus
        | Activation::Elu
        | Activation::LeakyRelu => 1.0,
        Activation::Sigmoid => 0.25,
        Activation::Gelu | Activation::GeluTanh => 1.129, // at sqrt 2, and close to it
        Activation::Silu | Activation::QuickGelu => 1.0999,
        Activation::Mish => 1.0887,
        Activation::Hardswish => 1.5,
    }
}

/// The error bound of an activation that a kernel computes in f32 from an argument within `dz` of `z`, relative to the
/// exact value at `z`. With the Lipschitz constant $L$ and $u = 2^{-23}$ it is
/// $$L\\,dz + r u\\,(|f(z)| + L\\,dz) + 2^{-119},$$
/// where $r$ is 0 for none and relu, 4 for leaky relu and hardswish, 8 for the sigmoid, tanh and softplus, 10 for gelu, silu,
/// mish, quick gelu and elu, which are products or quotients of such functions. The exponential in gelu by tanh has a
/// rounded argument $w = 2 \sqrt{2 / \pi}\\,(|z| + 0.044715 |z|^3)$, so $r = 10 + 4 w$. The last term covers an exponential below $2^{-126}$ that a driver flushes to zero before it is
/// multiplied by z. `z` and `dz` must be finite.
#[must_use]
pub fn activation_tolerance(activation: Activation, z: f64, dz: f64) -> f64 {
    let moved = activation_lipschitz(activation) * dz;
    let units = match activation {
        Activation::None | Activation::Relu => return moved,
        Activation::LeakyRelu | Activation::Hardswish => 4.0,
        Activation::Sigmoid | Activation::Tanh | Activation::Softplus => 8.0,
        Activation::Gelu | Activation::Silu | Activation::Mish | Activation::QuickGelu | Activation::Elu => {
            10.0
        }
        // Beyond 20 the kernel sets the sigmoid to 0 or 1.
        Activation::GeluTanh => 10.0 + 8.0 * tanh_argument((z.abs() + dz).min(20.0)),
    };
    moved + units * 2f64.powi(-23) * (activate(activation, z).abs() + moved) + 2f64.powi(-119)
}

/// The derivative of an activation in f64. At 0, that of relu is 0, that of leaky relu 0.01 and that of elu 1. That of
/// hardswish is 0 at -3 and 1 at 3.
#[must_use]
pub fn activation_slope(activation: Activation, x: f64) -> f64 {
    let [first, second] = slope_terms(activation, x);
    first + second
}

/// The error bound of a derivative that a kernel computes in f32, relative to [`activation_slope`]: $r u$ times the sum
/// of the absolute values of its terms, with $u = 2^{-23}$, plus $2^{-117}$ for exponentials that a driver flushes to
/// zero before they are multiplied. The terms are $\Phi(x)$ and $x \varphi(x)$ for gelu, $\sigma(w)$ and
/// $x \sigma(w) \sigma(-w) w'$ for the others, $\tanh s$ and $x (1 - \tanh^2 s)\\,\sigma(x)$ with
/// $s = \ln(1 + e^x)$ for mish, $x / 3$ and $1 / 2$ for hardswish. $r$ is 0 for none and relu, $24 + 2 x^2$ for gelu and $24 + 8 w$ for
/// gelu by tanh, whose exponentials have rounded arguments, and 1 for leaky relu and 24 for the others.
#[must_use]
pub fn slope_tolerance(activation: Activation, x: f64) -> f64 {
    let units = match activation {
        Activation::None | Activation::Relu => return 0.0,
        Activation::LeakyRelu => 1.0,
        Activation::Sigmoid
        | Activation::Tanh
        | Activation::Silu
        | Activation::Softplus
        | Activation::Elu
        | Activation::Mish
        | Activation::Hardswish
        | Activation::QuickGelu => 24.0,
        Activation::Gelu => 24.0 + 2.0 * x.abs().min(15.0).powi(2),
        Activation::GeluTanh => 24.0 + 16.0 * tanh_argument(x.abs().min(20.0)),
    };
    let magnitude: f64 = slope_terms(activation, x).into_iter().map(f64::abs).sum();
    units * 2f64.powi(-23) * magnitude + 2f64.powi(-117)
}

/// The terms whose sum is the derivative.
fn slope_terms(activation: Activation, x: f64) -> [f64; 2] {
    // Avoids infinity times 0; beyond these values the derivative equals its limit.
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
            let (w, slope_of_w) =
                (2.0 * tanh_argument(bounded), (8.0 / PI).sqrt() * (1.0 + 0.134145 * bounded * bounded));
            [sigmoid(w), bounded * sigmoid(w) * sigmoid(-w) * slope_of_w]
        }
        Activation::Silu => [sigmoid(bounded), bounded * sigmoid(bounded) * sigmoid(-bounded)],
        Activation::Sigmoid => [sigmoid(x) * sigmoid(-x), 0.0],
        Activation::Tanh => [4.0 * sigmoid(2.0 * x) * sigmoid(-2.0 * x), 0.0],
        Activation::Softplus => [sigmoid(x), 0.0],
        Activation::Elu | Activation::LeakyRelu | Activation::Hardswish if x.is_nan() => [x, 0.0],
        Activation::Elu => [if x > 0.0 { 1.0 } else { x.exp() }, 0.0],
        Activation::LeakyRelu => [if x > 0.0 { 1.0 } else { LEAK }, 0.0],
        Activation::Mish => {
            let tanh = softplus(bounded).tanh();
            [tanh, bounded * (1.0 - tanh * tanh) * sigmoid(bounded)]
        }
        Activation::Hardswish if x.abs() >= 3.0 => [if x > 0.0 { 1.0 } else { 0.0 }, 0.0],
        Activation::Hardswish => [x / 3.0, 0.5],
        Activation::QuickGelu => {
            let w = QUICK * bounded;
            [sigmoid(w), w * sigmoid(w) * sigmoid(-w)]
        }
    }
}

/// The slope of leaky relu below 0.
const LEAK: f64 = 0.01;
/// The factor of the argument in quick gelu.
const QUICK: f64 = 1.702;

/// ln(1 + e^x).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The logistic function.
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The argument of tanh in gelu by tanh.
fn tanh_argument(x: f64) -> f64 {
    (2.0 / PI).sqrt() * (x + 0.044715 * x * x * x)
}
