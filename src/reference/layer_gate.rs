//! The gates of Clifford layers by definition, with bounds on their errors in f32.

use super::activation::tanh_argument;
use super::bounded::BoundedNumber;
use super::elements::U;
use crate::clifford::layer::Gate;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// A bound on the absolute error of the gate `Gelu`.
const GATE: f64 = 1.2e-7;
/// A bound on the absolute error of the gate `GeluTanh`.
const GATE_BY_TANH: f64 = 16.0 * U;
/// A bound on the absolute error of either gate's slope.
const SLOPE: f64 = 16.0 * U;
/// A bound on the derivative of either gate, and of its slope.
const STEEPEST: f64 = 0.4;

/// The gate of a scalar part.
pub(super) fn gate(gate: Gate, s: BoundedNumber) -> BoundedNumber {
    let (value, own) = match gate {
        Gate::None => return BoundedNumber { value: 1.0, bound: 0.0 },
        Gate::Gelu => (0.5 * libm::erfc(-s.value * FRAC_1_SQRT_2), GATE),
        Gate::GeluTanh => (0.5 * (1.0 + tanh_argument(s.value).tanh()), GATE_BY_TANH),
    };
    BoundedNumber { value, bound: STEEPEST * s.bound + own }
}

/// The derivative of the gate.
pub(super) fn gate_slope(gate: Gate, s: BoundedNumber) -> BoundedNumber {
    let x = s.value;
    let value = match gate {
        Gate::None => return BoundedNumber::default(),
        Gate::Gelu => (-0.5 * x * x).exp() / (2.0 * PI).sqrt(),
        Gate::GeluTanh => {
            let slope = (2.0 / PI).sqrt() * (1.0 + 3.0 * 0.044715 * x * x);
            0.5 * slope / tanh_argument(x).cosh().powi(2)
        }
    };
    BoundedNumber { value, bound: STEEPEST * s.bound + SLOPE }
}
