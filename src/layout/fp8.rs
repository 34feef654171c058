//! Floating-point numbers of 8 bits, defined by the Open Compute Project ("OCP 8-bit Floating Point Specification", 2023).

use super::element::{DType, Element, Float, Operand, Quantised, sealed::Sealed};
use super::nearest::{E4M3, E5M2, nearest_bits};
use std::cmp::Ordering;
use std::fmt;

/// A floating-point number of 8 bits: a sign, 4 bits of exponent and 3 of fraction. Its magnitudes are 0 and $2^{-9}$ to 448. The
/// largest bit pattern is NaN, and there is no infinity. Other libraries call it `float8_e4m3fn`.
///
/// Tensors of it are stored, moved, cast and [multiplied](crate::Gemm). Other operations do not take it:
/// [`cast`](crate::Tensor::cast) it first.
/// ```
/// use tilewise::F8E4M3;
///
/// assert_eq!(F8E4M3::from_f32(0.3).to_f32(), 0.3125);
/// assert_eq!(F8E4M3::from_f32(464.0), F8E4M3::MAX); // half-way to the next power of two: even
/// assert!(F8E4M3::from_f32(465.0).is_nan());
/// ```
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct F8E4M3(u8);

/// A floating-point number of 8 bits: a sign, 5 bits of exponent and 2 of fraction, the upper half of an
/// [`f16`](crate::f16). Its finite magnitudes are 0 and $2^{-16}$ to 57,344.
///
/// Tensors of it are stored, moved, cast and [multiplied](crate::Gemm). Other operations do not take it:
/// [`cast`](crate::Tensor::cast) it first.
/// ```
/// use tilewise::F8E5M2;
///
/// assert_eq!(F8E5M2::from_f32(0.3).to_f32(), 0.3125);
/// assert_eq!(F8E5M2::from_f32(61_439.0), F8E5M2::MAX);
/// assert_eq!(F8E5M2::from_f32(61_440.0), F8E5M2::INFINITY); // half-way to the next power of two: even
/// ```
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct F8E5M2(u8);

impl F8E4M3 {
    /// One.
    pub const ONE: Self = Self(0x38);
    /// The largest number, 448.
    pub const MAX: Self = Self(0x7e);
    /// Not a number.
    pub const NAN: Self = Self(0x7f);

    /// The number with these bits: the sign, the exponent and the fraction, from the highest bit to the lowest.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// The nearest number to an f32, ties to even. For an f32 above 464, and for infinity, it is NaN.
    #[must_use]
    pub fn from_f32(value: f32) -> Self {
        Self::from_f64(value.into())
    }

    /// Whether this is NaN.
    #[must_use]
    pub const fn is_nan(self) -> bool {
        self.0 & 0x7f == 0x7f
    }

    /// The same number as f32: exact.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        let magnitude = match self.0 & 0x7f {
            0x7f => f32::NAN,
            // Subnormal numbers count units of 2^-9.
            units @ 0..8 => f32::from(units) / 512.0,
            // The biases of the exponents differ by 120.
            bits => f32::from_bits((u32::from(bits) << 20) + (120 << 23)),
        };
        if self.0 > 0x7f { -magnitude } else { magnitude }
    }
}

impl F8E5M2 {
    /// One.
    pub const ONE: Self = Self(0x3c);
    /// The largest finite number, 57,344.
    pub const MAX: Self = Self(0x7b);
    /// Infinity.
    pub const INFINITY: Self = Self(0x7c);
    /// Not a number: a quiet NaN.
    pub const NAN: Self = Self(0x7e);

    /// The number with these bits: the sign, the exponent and the fraction, from the highest bit to the lowest.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// The nearest number to an f32, ties to even. From 61,440 on it is infinity.
    #[must_use]
    pub fn from_f32(value: f32) -> Self {
        Self::from_f64(value.into())
    }

    /// Whether this is NaN.
    #[must_use]
    pub const fn is_nan(self) -> bool {
        self.0 & 0x7f > 0x7c
    }

    /// The same number as f32: exact.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        crate::f16::from_bits(u16::from(self.0) << 8).to_f32()
    }
}

/// Implements the traits that both types have.
macro_rules! number {
    ($type:ident, $format:expr) => {
        impl Sealed for $type {}

        impl Element for $type {
            const DTYPE: DType = DType::$type;

            fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            fn from_f64(value: f64) -> Self {
                Self(lowest_byte(nearest_bits(value, $format)))
            }
        }

        impl From<$type> for f32 {
            fn from(number: $type) -> Self {
                number.to_f32()
            }
        }

        /// As floats: 0 equals -0, and NaN nothing.
        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    };
}

number!(F8E4M3, E4M3);
number!(F8E5M2, E5M2);

impl Operand for F8E4M3 {
    type Sum = f32;
}

impl Operand for F8E5M2 {
    type Sum = f32;
}

impl Float for F8E4M3 {}
impl Float for F8E5M2 {}
impl Quantised for F8E4M3 {}
impl Quantised for F8E5M2 {}

/// The lowest byte of the bits of a format of 8 bits.
fn lowest_byte(bits: u16) -> u8 {
    let [low, _] = bits.to_le_bytes();
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_the_value_of_its_definition() {
        for bits in 0..=u8::MAX {
            let (field, fraction) = (bits >> 3 & 0xf, bits & 7);
            let sign = if bits > 0x7f { -1.0 } else { 1.0 };
            let leading = if field == 0 { 0.0 } else { 1.0 };
            let of = sign * (leading + f64::from(fraction) / 8.0) * 2f64.powi(i32::from(field.max(1)) - 7);
            let found = F8E4M3::from_bits(bits);
            if bits & 0x7f == 0x7f {
                assert!(found.is_nan() && found.to_f64().is_nan());
            } else {
                assert!(!found.is_nan());
                assert_eq!(found.to_f64().to_bits(), of.to_bits(), "{bits:#x}");
            }

            let (field, fraction) = (bits >> 2 & 0x1f, bits & 3);
            let leading = if field == 0 { 0.0 } else { 1.0 };
            let of = sign * (leading + f64::from(fraction) / 4.0) * 2f64.powi(i32::from(field.max(1)) - 15);
            let found = F8E5M2::from_bits(bits);
            match (field, fraction) {
                (31, 0) => assert_eq!(found.to_f64(), sign * f64::INFINITY),
                (31, _) => assert!(found.is_nan() && found.to_f64().is_nan()),
                _ => assert_eq!(found.to_f64().to_bits(), of.to_bits(), "{bits:#x}"),
            }
            assert_eq!(found.is_nan(), field == 31 && fraction > 0);
        }
    }

    #[test]
    fn numbers_are_ordered_and_printed_as_floats() {
        let of = |bits| F8E4M3::from_bits(bits);
        assert_eq!(of(0), of(0x80));
        assert!(of(0x81) < of(0) && of(1) > of(0x80) && of(0x38) > of(0xc0));
        assert!(F8E4M3::NAN != F8E4M3::NAN && F8E4M3::NAN.partial_cmp(&F8E4M3::ONE).is_none());
        assert!(F8E5M2::INFINITY > F8E5M2::MAX && F8E5M2::MAX > F8E5M2::ONE);
        assert_eq!((F8E4M3::ONE.to_f32(), F8E4M3::MAX.to_f32()), (1.0, 448.0));
        assert_eq!((F8E5M2::ONE.to_f32(), F8E5M2::MAX.to_f32()), (1.0, 57_344.0));
        assert!(F8E5M2::NAN.is_nan());
        assert_eq!(format!("{} {:?} {:.1}", of(0x39), of(0xfe), F8E5M2::MAX), "1.125 -448.0 57344.0");
    }
}
