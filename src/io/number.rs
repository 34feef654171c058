//! Numbers of files, and their conversion to the element types of tensors.

use crate::Result;
use crate::layout::Element;
use crate::progress::Steps;
use half::f16;
use std::fmt;

/// Numbers between two reports.
const CHUNK: usize = 1 << 22;

/// A number of a file, exactly.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileNumber {
    /// An integer of at most 64 bits, or a bool as 0 or 1.
    Whole(i128),
    /// A floating-point number.
    Real(f64),
}

impl FileNumber {
    /// The nearest f64. Only integers above 2^53 are rounded.
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// The number as `T`: rounded once to the nearest for a floating-point type, unchanged for an integer type. None if a
    /// finite number would become infinite, or if the integer type cannot represent the number.
    pub(super) fn to<T: Element>(self) -> Option<T> {
        let value = match self {
            Self::Whole(value) => shortened(value),
            Self::Real(value) => value,
        };
        let converted = T::from_f64(value);
        let is_held = if T::DTYPE.is_float() {
            let found = converted.to_f64();
            found.is_finite() || (!value.is_finite() && found.is_nan() == value.is_nan())
        } else {
            converted.to_f64() == value
        };
        is_held.then_some(converted)
    }
}

/// An integer with at most 53 significant bits. Every type of fewer bits rounds it like `value`: its last bit is set if any
/// of the dropped bits is one. NOTE: rounding to f64 first would round twice.
fn shortened(value: i128) -> f64 {
    const FOLDED: u128 = 0xfff;
    let magnitude = value.unsigned_abs();
    let kept = match (magnitude >> 53, magnitude & FOLDED) {
        (0, _) | (_, 0) => magnitude,
        _ => (magnitude & !FOLDED) | 0x800,
    };
    let kept = kept as f64;
    if value < 0 { -kept } else { kept }
}

/// Converts the numbers that `each` supplies, for the function `call`. The inner error is the reason, with the first number
/// that cannot be converted to `T`.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(super) fn converted<T: Element>(
    call: &'static str,
    len: usize,
    each: impl FnOnce(&mut dyn FnMut(FileNumber)),
) -> Result<Result<Vec<T>, String>> {
    let mut elements: Vec<T> = match room(len) {
        Ok(elements) => elements,
        Err(why) => return Ok(Err(why)),
    };
    let mut wrong = None;
    take_reported((call, len), each, |number| match number.to() {
        Some(element) => elements.push(element),
        None => _ = wrong.get_or_insert((elements.len(), number)),
    })?;
    Ok(match wrong {
        None => Ok(elements),
        Some((at, number)) => {
            Err(format!("the element at {at} is {number}, which {} does not hold", T::DTYPE))
        }
    })
}

/// The numbers that `each` supplies as f64, for the function `call`. The inner error is the reason, if memory runs out.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(super) fn as_f64(
    call: &'static str,
    len: usize,
    each: impl FnOnce(&mut dyn FnMut(FileNumber)),
) -> Result<Result<Vec<f64>, String>> {
    let mut values = match room(len) {
        Ok(values) => values,
        Err(why) => return Ok(Err(why)),
    };
    take_reported((call, len), each, |number| values.push(number.to_f64()))?;
    Ok(Ok(values))
}

/// Passes the numbers that `each` supplies to `take`, and reports their count. After a cancellation the rest is left
/// out.
fn take_reported(
    (call, len): (&'static str, usize),
    each: impl FnOnce(&mut dyn FnMut(FileNumber)),
    mut take: impl FnMut(FileNumber),
) -> Result<()> {
    let steps = Steps::aside(call, len);
    let (mut at, mut reported) = (0, Ok(()));
    each(&mut |number| {
        if at % CHUNK == 0 && reported.is_ok() {
            reported = steps.at(at, "converting elements");
        }
        if reported.is_ok() {
            take(number);
        }
        at += 1;
    });
    reported?;
    steps.end()
}

/// An empty vector with this capacity. NOTE: a sparse file may be larger than the memory of this machine.
pub(super) fn room<T>(count: usize) -> Result<Vec<T>, String> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|e| format!("cannot be read: {e}"))?;
    Ok(values)
}

impl fmt::Display for FileNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
        }
    }
}

impl From<f16> for FileNumber {
    fn from(value: f16) -> Self {
        Self::Real(value.into())
    }
}

/// Conversions without loss.
macro_rules! from {
    ($variant:ident($wide:ty): $($narrow:ty),*) => {
        $(impl From<$narrow> for FileNumber {
            fn from(value: $narrow) -> Self {
                Self::$variant(<$wide>::from(value))
            }
        })*
    };
}

from!(Real(f64): f32, f64);
from!(Whole(i128): bool, i8, i16, i32, i64, u8, u16, u32, u64);

#[cfg(test)]
mod tests {
    use super::FileNumber;
    use half::f16;

    #[test]
    fn large_integers_are_rounded_once() {
        // Halfway between two f32, and one more, which f64 rounds away.
        let halfway = (1i64 << 60) + (1 << 36);
        for (value, want) in [
            (halfway, 1u64 << 60),
            (halfway + 1, (1 << 60) + (1 << 37)),
            (halfway - 1, 1 << 60),
            (i64::MAX, 1 << 63),
        ] {
            assert_eq!(FileNumber::from(value).to::<f32>(), Some(want as f32), "{value}");
            assert_eq!(FileNumber::from(-value).to::<f32>(), Some(-(want as f32)), "{value}");
            // The compiler's own conversion.
            let direct = value as f32;
            assert_eq!(FileNumber::from(value).to::<f32>(), Some(direct), "{value}");
        }
        assert_eq!(FileNumber::from(i64::MIN).to::<f32>(), Some(-(2f32.powi(63))));
        assert_eq!(FileNumber::from(u64::MAX).to::<f32>(), Some(2f32.powi(64)));
    }

    #[test]
    fn what_a_type_does_not_hold_is_no_number_of_it() {
        assert_eq!(FileNumber::from(2_147_483_647i64).to::<i32>(), Some(i32::MAX));
        assert_eq!(FileNumber::from(2_147_483_648i64).to::<i32>(), None);
        assert_eq!(FileNumber::from(-2_147_483_648i64).to::<i32>(), Some(i32::MIN));
        assert_eq!(FileNumber::from(200u8).to::<i8>(), None);
        assert_eq!(FileNumber::from(true).to::<i8>(), Some(1));
        assert_eq!(FileNumber::from(0.5f64).to::<i32>(), None);
        assert_eq!(FileNumber::from(-3.0f64).to::<i32>(), Some(-3));
        assert_eq!(FileNumber::from(f64::NAN).to::<i32>(), None);
        assert_eq!(FileNumber::from(1e39f64).to::<f32>(), None);
        assert_eq!(FileNumber::from(65_504.0f64).to::<f16>(), Some(f16::MAX));
        assert_eq!(FileNumber::from(65_520i64).to::<f16>(), None);
        assert_eq!(FileNumber::from(f64::INFINITY).to::<f32>(), Some(f32::INFINITY));
        assert!(FileNumber::from(f64::NAN).to::<f32>().is_some_and(f32::is_nan));
    }
}
