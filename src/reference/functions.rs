//! Functions of elements, by definition.

use super::elements::{Definition, NORMAL, U};
use crate::ops::Function;
use crate::ops::table::function_rows;

/// A function of every element, for operands of one length. Masks are 1 and 0.
///
/// With $u = 2^{-23}$, a result is within $r u |f| + 2^{-126}$; each function of [`ops`](crate::ops) says its r, and whether it
/// is exact. Sums and products have the bounds of [`add`](super::add) and [`mul`](super::mul). Results beyond the largest f32 are
/// infinite.
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

/// Generates the definitions of reals and of integers from the rows.
macro_rules! definitions {
    ($y:ident $g:ident: $(
        $(#[$doc:meta])+
        $variant:ident: $name:ident($($operand:ident),+) takes $takes:ident, within [$units:literal $(, $floor:expr)?],
        wgsl $wgsl:tt, value [$value:expr] integers [$($integer:expr)?] gradients $gradients:tt;
    )*) => {
        /// The value, the part of the bound that is relative to it, in units of $2^{-23}$, and the part that is not, in units of
        /// $2^{-126}$.
        fn real(function: Function, operands: [f64; 3]) -> [f64; 3] {
            match function {
                $(Function::$variant => {
                    let [$($operand,)+ ..] = operands;
                    let floor = [$($floor,)? 1.0][0];
                    [$value, f64::from($units), floor]
                })*
            }
        }

        /// None if integers have no such function.
        #[allow(unused_variables, reason = "functions of reals have none of integers")]
        fn integer(function: Function, operands: [i32; 3]) -> Option<i32> {
            match function {
                $(Function::$variant => {
                    let [$($operand,)+ ..] = operands;
                    let values: &[i32] = &[$($integer)?];
                    values.first().copied()
                })*
            }
        }
    };
}

function_rows!(definitions);

/// The value and its bound.
fn entry(function: Function, operands: [f64; 3]) -> [f64; 2] {
    let [value, units, floor] = real(function, operands);
    if units == 0.0 {
        return [value, if value.abs() < NORMAL { value.abs() } else { 0.0 }];
    }
    [value, units * U * value.abs() + floor * NORMAL]
}

/// 1 if the condition is true, 0 if not.
fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[expect(clippy::cast_possible_truncation, reason = "rounded as the device rounds")]
fn as_f32(x: f64) -> f64 {
    f64::from(x as f32)
}

#[expect(clippy::cast_possible_truncation, reason = "truncated and saturated as on the device")]
fn as_i32(x: f64) -> f64 {
    f64::from(x as i32)
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
