//! The nearest number of a floating-point format of at most 16 bits.

/// A floating-point format: a sign, an exponent and a fraction, from the highest bit to the lowest.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// Bits of the fraction, below the significand's leading bit.
    fraction: u32,
    /// Bits of the exponent.
    exponent: u32,
    beyond: Beyond,
}

/// The meaning of the bit pattern after the largest number of a format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// Infinity, then NaN.
    Infinity,
    /// The only NaN.
    Nan,
}

/// IEEE 754 half precision.
pub(super) const F16: Format = Format { fraction: 10, exponent: 5, beyond: Beyond::Infinity };
/// The upper half of an f32.
pub(super) const BF16: Format = Format { fraction: 7, exponent: 8, beyond: Beyond::Infinity };
/// OCP E4M3.
pub(super) const E4M3: Format = Format { fraction: 3, exponent: 4, beyond: Beyond::Nan };
/// OCP E5M2: the upper half of an f16.
pub(super) const E5M2: Format = Format { fraction: 2, exponent: 5, beyond: Beyond::Infinity };

/// The bits of the nearest value of a format to an f64, ties to even. Beyond the largest value it is infinity, or NaN if the
/// format has no infinity. NaN keeps its sign, and the upper bits of its payload if the format has a payload.
///
/// NOTE: this does not use `from_f64` of the crate half: version 2.7 drops the lower 32 bits of the f64, so that 65520 - 2^-20
/// becomes infinity.
pub(super) fn nearest_bits(value: f64, format: Format) -> u16 {
    let Format { fraction, exponent, beyond } = format;
    let bits = value.to_bits();
    let sign = (bits >> 63) << (exponent + fraction);
    let infinity = match beyond {
        Beyond::Infinity => ((1u64 << exponent) - 1) << fraction,
        Beyond::Nan => (1 << (exponent + fraction)) - 1,
    };
    let (field, below) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let magnitude = if field == 0x7ff {
        let quiet = if below == 0 { 0 } else { 1 << (fraction - 1) };
        infinity | quiet | (below >> (52 - fraction))
    } else {
        // Exponents with the bias of f64: that of the value, and that of the smallest normal number.
        let least = 1024 - (1 << (exponent - 1)) + 1;
        let binade = field.max(least);
        let dropped = u64::from(52 - fraction) + (binade - field);
        // An f64 with exponent field 0 is far below half of the smallest value. So is an f64 that loses all bits.
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

#[cfg(test)]
mod tests {
    use crate::layout::{Element, F8E4M3, F8E5M2};
    use half::{bf16, f16};

    /// Asserts the nearest value at, just below and just above the middle of each value and the next. An f64 represents the
    /// middle exactly.
    fn rounds_to_nearest<T: Element>(largest: u16, of_bits: fn(u16) -> T, bits: fn(T) -> u16) {
        let negative = 1 << (8 * size_of::<T>() - 1);
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
                assert_eq!(bits(T::from_f64(-x)), want | negative, "-{x:e}");
            }
        }
        for (x, want) in [
            (f64::INFINITY, largest + 1),
            (f64::MAX, largest + 1),
            (0.0, 0),
            (f64::MIN_POSITIVE, 0),
            (5e-324, 0),
        ] {
            assert_eq!((bits(T::from_f64(x)), bits(T::from_f64(-x))), (want, want | negative), "{x:e}");
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
    fn byte(bits: u16) -> u8 {
        u8::try_from(bits).unwrap()
    }

    #[test]
    fn every_number_of_8_bits_is_the_nearest_to_what_lies_about_it() {
        rounds_to_nearest(0x7e, |bits| F8E4M3::from_bits(byte(bits)), |x| x.to_bits().into());
        rounds_to_nearest(0x7b, |bits| F8E5M2::from_bits(byte(bits)), |x| x.to_bits().into());
    }
}
