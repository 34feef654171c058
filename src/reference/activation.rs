//! Activations by definition, and error bounds of the shaders' activations.

use crate::ops::Activation;
use crate::ops::table::activation_rows;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Makes of the rows the values, the derivatives and their bounds.
macro_rules! definitions {
    ($x:ident $b:ident $z:ident: $(
        $(#[$attribute:meta])+
        $variant:ident: $name:ident, flops $flops:tt lipschitz [$lipschitz:expr]
            value [$value:expr] within [$within:expr] slope [$first:expr, $second:expr] within [$slope_within:expr];
    )*) => {
        /// The value of an activation in f64. At minus infinity it is the limit.
        #[must_use]
        pub fn activate(activation: Activation, $x: f64) -> f64 {
            match activation {
                $(Activation::$variant => $value,)*
            }
        }

        /// The Lipschitz constant of an activation.
        #[must_use]
        pub fn activation_lipschitz(activation: Activation) -> f64 {
            match activation {
                $(Activation::$variant => $lipschitz,)*
            }
        }

        /// The bound of a value in units of it, for arguments of at most this size.
        fn value_units($z: f64, activation: Activation) -> f64 {
            match activation {
                $(Activation::$variant => $within,)*
            }
        }

        /// The terms whose sum is the derivative.
        fn slope_terms(activation: Activation, $x: f64) -> [f64; 2] {
            // Avoids infinity times 0; beyond these values the derivative equals its limit.
            let $b = $x.clamp(-200.0, 200.0);
            match activation {
                $(Activation::$variant => [$first, $second],)*
            }
        }

        /// The bound of a derivative in units of its terms.
        fn slope_units($x: f64, activation: Activation) -> f64 {
            match activation {
                $(Activation::$variant => $slope_within,)*
            }
        }
    };
}

activation_rows!(definitions);

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
    let units = value_units(z.abs() + dz, activation);
    if units == 0.0 {
        return moved;
    }
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
    let units = slope_units(x, activation);
    if units == 0.0 {
        return 0.0;
    }
    let magnitude: f64 = slope_terms(activation, x).into_iter().map(f64::abs).sum();
    units * 2f64.powi(-23) * magnitude + 2f64.powi(-117)
}

/// The value of x times a factor: at minus infinity the limit, since the product is NaN there.
fn with_limit(x: f64, value: f64) -> f64 {
    if x == f64::NEG_INFINITY { -0.0 } else { value }
}

/// 1 if something holds, 0 if not.
fn step(holds: bool) -> f64 {
    f64::from(u8::from(holds))
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
pub(super) fn tanh_argument(x: f64) -> f64 {
    (2.0 / PI).sqrt() * (x + 0.044715 * x * x * x)
}
