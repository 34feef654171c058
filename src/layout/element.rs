//! The element types of tensors.

use half::{bf16, f16};
use std::fmt;

/// A scalar that tensors can hold: `f32`, [`struct@f16`], [`struct@bf16`], `i8` or `i32`.
pub trait Element: bytemuck::Pod + fmt::Debug + PartialOrd + Send + Sync + sealed::Sealed {
    /// The element type as a value.
    const DTYPE: DType;

    /// Converts to f64, exactly.
    fn to_f64(self) -> f64;

    /// Converts from f64, rounded to the nearest value of this type; integers saturate.
    fn from_f64(value: f64) -> Self;
}

/// A type of matrices that can be multiplied: every [`Real`] type, and `i8`.
pub trait Operand: Element {
    /// The type of the accumulator, and of the product by default.
    type Sum: Element;
}

/// A type of elements that can be summed: every [`Real`] type, `i8` and `i32`.
pub trait Summand: Element {
    /// The type of sums: the type of the elements, except that sums of `i8` are `i32`.
    type Total: Element;
}

/// A floating-point type: `f32`, [`struct@f16`] or [`struct@bf16`]. Arithmetic on any of them is in f32.
pub trait Real: Operand<Sum = f32> + Summand<Total = Self> {}

/// The type of a tensor's elements, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 half precision.
    F16,
    /// The upper 16 bits of an f32: the same range, with 8 significant bits.
    Bf16,
    /// 8-bit signed integers.
    I8,
    /// 32-bit signed integers.
    I32,
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 5] = [Self::F32, Self::F16, Self::Bf16, Self::I8, Self::I32];

    /// Size of one element in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub const fn is_real(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I8 => "i8",
            Self::I32 => "i32",
        })
    }
}

impl Element for f32 {
    const DTYPE: DType = DType::F32;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest is the contract")]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Element for f16 {
    const DTYPE: DType = DType::F16;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64(value: f64) -> Self {
        Self::from_bits(nearest_bits(value, HalfFormat { fraction: 10, exponent: 5 }))
    }
}

impl Element for bf16 {
    const DTYPE: DType = DType::Bf16;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64(value: f64) -> Self {
        Self::from_bits(nearest_bits(value, HalfFormat { fraction: 7, exponent: 8 }))
    }
}

impl Element for i8 {
    const DTYPE: DType = DType::I8;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "saturation is the contract")]
    fn from_f64(value: f64) -> Self {
        value.round_ties_even() as i8
    }
}

impl Element for i32 {
    const DTYPE: DType = DType::I32;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "saturation is the contract")]
    fn from_f64(value: f64) -> Self {
        value.round_ties_even() as i32
    }
}

/// A binary format of 16 bits.
#[derive(Clone, Copy)]
struct HalfFormat {
    /// Bits of the fraction, below the significand's leading bit.
    fraction: u32,
    /// Bits of the exponent.
    exponent: u32,
}

/// The bits of the value of a format that is nearest to an f64; of two, the even one. Beyond the largest it is infinity; NaN keeps
/// its sign and the upper bits of its payload.
///
/// NOTE: not the crate half's `from_f64`: version 2.7 drops the lower 32 bits of the f64, so that 65520 - 2^-20 becomes infinity.
fn nearest_bits(value: f64, format: HalfFormat) -> u16 {
    let HalfFormat { fraction, exponent } = format;
    let bits = value.to_bits();
    let sign = (bits >> 63) << 15;
    let infinity = ((1u64 << exponent) - 1) << fraction;
    let (field, below) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let magnitude = if field == 0x7ff {
        let quiet = if below == 0 { 0 } else { 1 << (fraction - 1) };
        infinity | quiet | (below >> (52 - fraction))
    } else {
        // Exponents, biased as those of f64: of the value and of the smallest normal one.
        let least = 1024 - (1 << (exponent - 1)) + 1;
        let binade = field.max(least);
        let dropped = u64::from(52 - fraction) + (binade - field);
        // An f64 of field 0 is far below half of the smallest value, as is one that loses all bits.
        if field == 0 || dropped > 53 {
            0
        } else {
            let significand = below | (1 << 52);
            let is_odd = (significand >> dropped) & 1;
            let rounded = (significand + (1 << (dropped - 1)) - 1 + is_odd) >> dropped;
            // The significand's leading bit adds 1 to the exponent; a subnormal value has none.
            (((binade - least) << fraction) + rounded).min(infinity)
        }
    };
    u16::try_from(sign | magnitude).unwrap_or_default()
}

impl Operand for f32 {
    type Sum = f32;
}

impl Operand for f16 {
    type Sum = f32;
}

impl Operand for bf16 {
    type Sum = f32;
}

impl Operand for i8 {
    type Sum = i32;
}

impl Summand for f32 {
    type Total = f32;
}

impl Summand for f16 {
    type Total = f16;
}

impl Summand for bf16 {
    type Total = bf16;
}

impl Summand for i8 {
    type Total = i32;
}

impl Summand for i32 {
    type Total = i32;
}

impl Real for f32 {}
impl Real for f16 {}
impl Real for bf16 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
    impl Sealed for i8 {}
    impl Sealed for i32 {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts what is nearest at, just below and just above the middle of each value and the next, which an f64 holds exactly.
    fn rounds_to_nearest<T: Element>(largest: u16, of_bits: fn(u16) -> T, bits: fn(T) -> u16) {
        let value = |bits: u16| of_bits(bits).to_f64();
        for at in 0..=largest {
            let next = if at == largest { 2.0 * value(at) - value(at - 1) } else { value(at + 1) };
            let middle = (value(at) + next) / 2.0;
            let even = at + (at & 1);
            for (x, want) in [
                (value(at), at),
                (value(at).next_up(), at),
                (middle.next_down(), at),
                (middle, even),
                (middle.next_up(), at + 1),
                (next.next_down(), at + 1),
            ] {
                assert_eq!(bits(T::from_f64(x)), want, "{x:e}");
                assert_eq!(bits(T::from_f64(-x)), want | 0x8000, "-{x:e}");
            }
        }
        for (x, want) in [
            (f64::INFINITY, largest + 1),
            (f64::MAX, largest + 1),
            (0.0, 0),
            (f64::MIN_POSITIVE, 0),
            (5e-324, 0),
        ] {
            assert_eq!((bits(T::from_f64(x)), bits(T::from_f64(-x))), (want, want | 0x8000), "{x:e}");
        }
        assert!(T::from_f64(f64::NAN).to_f64().is_nan() && T::from_f64(f64::from_bits(!0)).to_f64().is_nan());
        assert!(T::from_f64(f64::from_bits(0x7ff0_0000_0000_0001)).to_f64().is_nan());
    }

    #[test]
    fn every_f16_is_the_nearest_to_what_lies_about_it() {
        rounds_to_nearest(0x7bff, f16::from_bits, f16::to_bits);
        assert_eq!(<f16 as Element>::from_f64(65_520.0 - 2f64.powi(-20)), f16::MAX);
        assert_eq!(<f16 as Element>::from_f64(1.000_488_282), f16::from_f32(1.001));
    }

    #[test]
    fn every_bf16_is_the_nearest_to_what_lies_about_it() {
        rounds_to_nearest(0x7f7f, bf16::from_bits, bf16::to_bits);
    }
}
