//! Floating-point numbers of 8 bits: casts by definition, moves by bytes, files, and operations that refuse them.

mod casts;
mod files;
mod moves;
mod refused;

use tilewise::{Element, F8E4M3, F8E5M2};

/// The definition of a type of 8 bits. The magnitudes of its codes grow with them, and the finite ones come first.
pub(crate) trait Fp8: Element {
    const FRACTION: u32;
    const BIAS: i32;
    /// The code of the largest finite number. The next one is infinity, or NaN if there is none.
    const LARGEST: u8;
    fn of_code(code: u8) -> Self;
    fn code(self) -> u8;
}

impl Fp8 for F8E4M3 {
    const FRACTION: u32 = 3;
    const BIAS: i32 = 7;
    const LARGEST: u8 = 0x7e;
    fn of_code(code: u8) -> Self {
        Self::from_bits(code)
    }
    fn code(self) -> u8 {
        self.to_bits()
    }
}

impl Fp8 for F8E5M2 {
    const FRACTION: u32 = 2;
    const BIAS: i32 = 15;
    const LARGEST: u8 = 0x7b;
    fn of_code(code: u8) -> Self {
        Self::from_bits(code)
    }
    fn code(self) -> u8 {
        self.to_bits()
    }
}

/// The value of a code, from its fields.
pub(crate) fn value<T: Fp8>(code: u8) -> f64 {
    let magnitude = code & 0x7f;
    let sign = if code > 0x7f { -1.0 } else { 1.0 };
    if magnitude > T::LARGEST {
        let has_infinity = T::FRACTION == 2;
        return if has_infinity && magnitude == T::LARGEST + 1 { sign * f64::INFINITY } else { f64::NAN };
    }
    sign * finite::<T>(magnitude.into())
}

/// The finite value that a magnitude has, or would have if all that is behind the largest were finite.
fn finite<T: Fp8>(magnitude: u32) -> f64 {
    let field = i32::try_from(magnitude >> T::FRACTION).unwrap();
    let unit = f64::from(1 << T::FRACTION);
    let fraction = f64::from(magnitude % (1 << T::FRACTION)) / unit;
    let leading = f64::from(field.min(1));
    (leading + fraction) * 2f64.powi(field.max(1) - T::BIAS)
}

/// The values of all finite magnitudes, and the value that is behind them.
pub(crate) fn magnitudes<T: Fp8>() -> Vec<f64> {
    (0..=u32::from(T::LARGEST) + 1).map(finite::<T>).collect()
}

/// The code of the nearest of `magnitudes`, of two the even one: by distance, which f64 has without rounding where it decides.
pub(crate) fn nearest<T: Fp8>(magnitudes: &[f64], value: f64) -> u8 {
    if value.is_nan() {
        return NAN;
    }
    let (sign, x) = (if value.is_sign_negative() { 0x80 } else { 0 }, value.abs());
    let above = magnitudes.partition_point(|&y| y < x).min(magnitudes.len() - 1);
    let below = above.saturating_sub(1);
    let is_above = match (magnitudes[above] - x).partial_cmp(&(x - magnitudes[below])) {
        Some(std::cmp::Ordering::Less) => true,
        Some(std::cmp::Ordering::Equal) => above % 2 == 0,
        _ => false,
    };
    canonical::<T>(sign | u8::try_from(if is_above { above } else { below }).unwrap())
}

/// The same, of the largest where the value is larger.
pub(crate) fn saturated<T: Fp8>(magnitudes: &[f64], value: f64) -> u8 {
    let largest = magnitudes[usize::from(T::LARGEST)];
    nearest::<T>(magnitudes, value.clamp(-largest, largest))
}

/// What stands for every NaN: a code that is NaN in both types.
pub(crate) const NAN: u8 = 0x7f;

/// The code, all NaNs alike.
pub(crate) fn canonical<T: Fp8>(code: u8) -> u8 {
    if value::<T>(code).is_nan() { NAN } else { code }
}

pub(crate) fn every_code<T: Fp8>() -> Vec<T> {
    (0..=u8::MAX).map(T::of_code).collect()
}

/// Runs a generic test with both types.
macro_rules! of_both {
    ($test:ident, $($given:expr),+) => {{
        $test::<tilewise::F8E4M3>($($given),+);
        $test::<tilewise::F8E5M2>($($given),+);
    }};
}
pub(crate) use of_both;

#[test]
fn the_definition_has_the_known_values() {
    let (e4m3, e5m2) = (magnitudes::<F8E4M3>(), magnitudes::<F8E5M2>());
    assert_eq!((e4m3.len(), e5m2.len()), (128, 125));
    assert_eq!((e4m3[1], e4m3[8], e4m3[126], e4m3[127]), (2f64.powi(-9), 2f64.powi(-6), 448.0, 480.0));
    assert_eq!(
        (e5m2[1], e5m2[4], e5m2[123], e5m2[124]),
        (2f64.powi(-16), 2f64.powi(-14), 57_344.0, 65_536.0)
    );
    let of = |x| nearest::<F8E4M3>(&e4m3, x);
    assert_eq!([of(448.0), of(464.0), of(464.1), of(-1e30), of(-0.0)], [0x7e, 0x7e, NAN, NAN, 0x80]);
    assert_eq!([of(2f64.powi(-10)), of(1.5 * 2f64.powi(-9)), of(0.3)], [0, 2, 0x2a]);
    let of = |x| nearest::<F8E5M2>(&e5m2, x);
    assert_eq!([of(61_439.9), of(61_440.0), of(-f64::INFINITY)], [0x7b, 0x7c, 0xfc]);
    assert_eq!(saturated::<F8E4M3>(&e4m3, f64::INFINITY), 0x7e);
    assert_eq!(saturated::<F8E5M2>(&e5m2, -1e9), 0xfb);
}

/// The types on the host round as the definition does: between neighbours, at them and at their middles.
#[test]
fn the_host_rounds_by_the_definition() {
    fn check<T: Fp8>(_: ()) {
        let all = magnitudes::<T>();
        for pair in all.windows(2) {
            let middle = (pair[0] + pair[1]) / 2.0;
            for x in [
                pair[0],
                pair[0].next_up(),
                middle.next_down(),
                middle,
                middle.next_up(),
                pair[1].next_down(),
            ] {
                for x in [x, -x] {
                    assert_eq!(
                        canonical::<T>(T::from_f64(x).code()),
                        nearest::<T>(&all, x),
                        "{} {x:e}",
                        T::DTYPE
                    );
                }
            }
        }
        for code in every_code::<T>() {
            let (found, want) = (code.to_f64(), value::<T>(code.code()));
            assert!(found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan(), "{}", code.code());
        }
    }
    of_both!(check, ());
}
