//! The values of 8-bit floating-point numbers of `.safetensors` files. f64 represents all of them.

use crate::layout::{Element, F8E4M3, F8E5M2};

/// A format of eight bits: a sign, an exponent and a mantissa.
#[derive(Clone, Copy)]
pub(super) enum Fp8 {
    /// OCP E4M3, [`F8E4M3`].
    E4M3,
    /// OCP E5M2, [`F8E5M2`].
    E5M2,
    /// E4M3 with a bias of 8. Its only NaN is the bit pattern of -0.
    E4M3Fnuz,
    /// E5M2 with a bias of 16. Its only NaN is the bit pattern of -0.
    E5M2Fnuz,
    /// A power of two, or NaN: the scale of a block.
    E8M0,
}

impl Fp8 {
    pub(super) fn to_f64(self, byte: u8) -> f64 {
        let magnitude = byte & 0x7f;
        let (mantissa_bits, bias) = match self {
            Self::E4M3 => return F8E4M3::from_bits(byte).to_f64(),
            Self::E5M2 => return F8E5M2::from_bits(byte).to_f64(),
            Self::E4M3Fnuz | Self::E5M2Fnuz if byte == 0x80 => return f64::NAN,
            Self::E8M0 if byte == 0xff => return f64::NAN,
            Self::E8M0 => return 2f64.powi(i32::from(byte) - 127),
            Self::E4M3Fnuz => (3, 8),
            Self::E5M2Fnuz => (2, 16),
        };
        let exponent = i32::from(magnitude >> mantissa_bits);
        let mantissa = i32::from(magnitude & ((1 << mantissa_bits) - 1));
        // Subnormal numbers have the exponent of the smallest normal numbers, and no leading one.
        let leading = if exponent == 0 { 0 } else { 1 << mantissa_bits };
        let scale = 2f64.powi(exponent.max(1) - bias - mantissa_bits);
        sign(byte) * f64::from(leading + mantissa) * scale
    }
}

fn sign(byte: u8) -> f64 {
    if byte & 0x80 == 0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::Fp8;
    use half::f16;

    #[test]
    fn every_byte_has_its_value() {
        for byte in 0..=u8::MAX {
            // E5M2 is the upper byte of an f16.
            let (found, want) = (Fp8::E5M2.to_f64(byte), f16::from_bits(u16::from(byte) << 8).to_f64());
            assert!(found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan(), "{byte}");
            // Half the value, except for infinities and NaN.
            let (fnuz, is_finite) = (Fp8::E5M2Fnuz.to_f64(byte), byte & 0x7f < 0x7c && byte != 0x80);
            assert!(!is_finite || fnuz == want / 2.0, "{byte}");
            let (e4m3, fnuz) = (Fp8::E4M3.to_f64(byte), Fp8::E4M3Fnuz.to_f64(byte));
            assert!(byte & 0x7f == 0x7f || byte == 0x80 || fnuz == e4m3 / 2.0, "{byte}");
        }
        for (byte, want) in [
            (0x00, 0.0),
            (0x01, 2f64.powi(-9)),
            (0x07, 7.0 * 2f64.powi(-9)),
            (0x08, 2f64.powi(-6)),
            (0x38, 1.0),
            (0x39, 1.125),
            (0x7e, 448.0),
            (0xfe, -448.0),
            (0xc0, -2.0),
        ] {
            assert_eq!(Fp8::E4M3.to_f64(byte), want, "{byte:#x}");
        }
        for (format, byte) in [
            (Fp8::E4M3, 0x7f),
            (Fp8::E4M3, 0xff),
            (Fp8::E4M3Fnuz, 0x80),
            (Fp8::E5M2Fnuz, 0x80),
            (Fp8::E8M0, 0xff),
        ] {
            assert!(format.to_f64(byte).is_nan(), "{byte:#x}");
        }
        assert!(Fp8::E4M3.to_f64(0x80).is_sign_negative());
        assert_eq!((Fp8::E4M3Fnuz.to_f64(0x7f), Fp8::E5M2Fnuz.to_f64(0x7f)), (240.0, 57_344.0));
        assert_eq!((Fp8::E8M0.to_f64(0), Fp8::E8M0.to_f64(127)), (2f64.powi(-127), 1.0));
        assert_eq!(Fp8::E8M0.to_f64(0xfe), 2f64.powi(127));
    }
}
