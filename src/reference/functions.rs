//! Functions of elements, by definition.

use super::elements::{Definition, NORMAL, U};
use crate::ops::Function;

/// A function of every element, for operands of one length. Masks are 1 and 0.
///
/// With $u = 2^{-23}$, a result is within $r u |f| + 2^{-126}$, where r is 1 for a product of two factors (also a square) and a
/// sum, 4 for a quotient or reciprocal, 8 for a root, an exponential, a logarithm, a sine, a cosine, a hyperbolic tangent
/// and a logistic function, and 2 for a power. All others are exact. Sums and products have the bounds of
/// [`add`](super::add) and [`mul`](super::mul). Results beyond the largest f32 are infinite.
///
/// A device may take operands between $-2^{-126}$ and $2^{-126}$ for 0. Then roots, reciprocals, quotients, signs and
/// comparisons differ from the definition; the bounds do not cover that.
///
/// # Panics
/// If the number of operands is not that of the function, or their lengths differ.
#[must_use]
pub fn apply(function: Function, operands: &[&[f64]]) -> Definition {
    assert_eq!(operands.len(), function.operands(), "the operands of {function}");
    let length = operands[0].len();
    assert!(operands.iter().all(|operand| operand.len() == length), "operands of one length");
    Definition::of((0..length).map(|i| {
        let at = |operand: usize| operands.get(operand).map_or(0.0, |operand| operand[i]);
        let [value, tolerance] = entry(function, [at(0), at(1), at(2)]);
        [stored(value), tolerance]
    }))
}

/// The value in f32: infinity beyond its range.
fn stored(value: f64) -> f64 {
    const ROUNDED_UP: f64 = 340_282_356_779_733_700_000_000_000_000_000_000_000.0;
    if value.abs() >= ROUNDED_UP { f64::INFINITY.copysign(value) } else { value }
}

/// The value and its bound.
fn entry(function: Function, [a, b, c]: [f64; 3]) -> [f64; 2] {
    let within = |units: f64, value: f64| [value, units * U * value.abs() + NORMAL];
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    let exact = match function {
        Function::Sqrt => return within(8.0, a.sqrt()),
        Function::Rsqrt => return within(8.0, a.sqrt().recip()),
        Function::Exp => return within(8.0, a.exp()),
        Function::Log => return within(8.0, a.ln()),
        Function::Square => return [a * a, U * a * a + NORMAL * (1.0 + 2.0 * a.abs())],
        Function::Recip => return within(4.0, a.recip()),
        Function::Sin => return within(8.0, a.sin()),
        Function::Cos => return within(8.0, a.cos()),
        Function::Tanh => return within(8.0, a.tanh()),
        Function::Sigmoid => return within(8.0, ((-a).exp() + 1.0).recip()),
        Function::Add => return [a + b, U * (a + b).abs() + 3.0 * NORMAL],
        Function::Sub => return [a - b, U * (a - b).abs() + 3.0 * NORMAL],
        Function::Mul => return [a * b, U * (a * b).abs() + NORMAL * (1.0 + a.abs() + b.abs())],
        Function::Div => return within(4.0, a / b),
        Function::Pow => return within(2.0, a.powf(b)),
        Function::Neg => -a,
        Function::Abs => a.abs(),
        Function::Sign if a == 0.0 || a.is_nan() => a,
        Function::Sign => a.signum(),
        Function::Floor => a.floor(),
        Function::Ceil => a.ceil(),
        Function::Round => a.round_ties_even(),
        Function::Minimum => smaller(a, b),
        Function::Maximum => -smaller(-a, -b),
        Function::Clamp => smaller(-smaller(-a, -b), c),
        Function::Equal => truth(a == b),
        Function::NotEqual => truth(a != b),
        Function::Less => truth(a < b),
        Function::LessOrEqual => truth(a <= b),
        Function::Greater => truth(a > b),
        Function::GreaterOrEqual => truth(a >= b),
        Function::And => truth(a != 0.0 && b != 0.0),
        Function::Or => truth(a != 0.0 || b != 0.0),
        Function::Not => truth(a == 0.0),
        Function::Select => [c, b][usize::from(a != 0.0)],
        #[expect(clippy::cast_possible_truncation, reason = "rounded as the device rounds")]
        Function::ToReal => f64::from(a as f32),
        #[expect(clippy::cast_possible_truncation, reason = "truncated and saturated as on the device")]
        Function::ToInteger => f64::from(a as i32),
    };
    [exact, if exact.abs() < NORMAL { exact.abs() } else { 0.0 }]
}

/// The smaller of two values; NaN if either is.
fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// A function of integers: exact, and wrapped to 32 bits. None if integers have no such function.
///
/// # Panics
/// If the number of operands is not that of the function, or their lengths differ.
#[must_use]
pub fn apply_integers(function: Function, operands: &[&[i32]]) -> Option<Vec<i32>> {
    assert_eq!(operands.len(), function.operands(), "the operands of {function}");
    let length = operands[0].len();
    assert!(operands.iter().all(|operand| operand.len() == length), "operands of one length");
    let at = |i: usize| [0, 1, 2].map(|operand| operands.get(operand).map_or(0, |operand| operand[i]));
    (0..length).map(|i| integer(function, at(i))).collect()
}

fn integer(function: Function, [a, b, c]: [i32; 3]) -> Option<i32> {
    Some(match function {
        Function::Neg => a.wrapping_neg(),
        Function::Abs => a.wrapping_abs(),
        Function::Sign => a.signum(),
        Function::Square => a.wrapping_mul(a),
        Function::Add => a.wrapping_add(b),
        Function::Sub => a.wrapping_sub(b),
        Function::Mul => a.wrapping_mul(b),
        Function::Minimum => a.min(b),
        Function::Maximum => a.max(b),
        Function::Clamp => a.max(b).min(c),
        Function::Equal => i32::from(a == b),
        Function::NotEqual => i32::from(a != b),
        Function::Less => i32::from(a < b),
        Function::LessOrEqual => i32::from(a <= b),
        Function::Greater => i32::from(a > b),
        Function::GreaterOrEqual => i32::from(a >= b),
        Function::And => i32::from(a != 0 && b != 0),
        Function::Or => i32::from(a != 0 || b != 0),
        Function::Not => i32::from(a == 0),
        Function::Select => [c, b][usize::from(a != 0)],
        _ => return None,
    })
}
