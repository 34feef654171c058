//! Random values as a function of a seed and a counter.

use super::element::{DType, Element};
use super::random::{ONE, normal, philox, words};

/// The last word of the counter for normal values. Operators use other words. NOTE: it must never change.
pub(crate) const NORMAL_TAG: u32 = 9;

/// Random values to fill a tensor with. The same seed gives bit-identical values on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Uniform in [-1, 1): multiples of $2^{-23}$ in f32; the same values rounded down to multiples of $2^{-10}$ in f16,
    /// of $2^{-7}$ in bf16, of $2^{-3}$ in e4m3 and of $2^{-2}$ in e5m2. Exact, and never subnormal. f32 values use all their bits, so that a kernel which drops
    /// some gives a wrong result. Integers are uniform over the range of i8, and over 24 bits in i32.
    Uniform,
    /// Integers in -3..=3. Their products are exact, so a wrong index gives a wrong integer.
    Integers,
    /// Standard normal: of mean 0 and variance 1, within $3 \cdot 10^{-5}$, and at most 6.34 in magnitude. Value i is computed
    /// from word i mod 4 of [`philox`](crate::sketch::philox) of the counter $(\lfloor i / 4 \rfloor, 0, 0, 9)$, like the
    /// entries of [`SketchKind::Gaussian`](crate::sketch::SketchKind::Gaussian): a multiple of $2^{-21}$. In types of fewer bits
    /// than f32 it is rounded to the nearest, in integers to the nearest integer. [`Gpu::random`](crate::Gpu::random) generates
    /// f32, f16 and bf16 on the device.
    Normal,
}

impl Fill {
    /// The first `len` values of the sequence with this seed.
    ///
    /// # Panics
    /// Panics, or aborts the process, if the host cannot allocate `len` elements.
    #[must_use]
    pub fn values<T: Element>(self, len: usize, seed: u64) -> Vec<T> {
        (0..len as u64).map(|i| self.value(i, seed)).collect()
    }

    /// Value number `i` of the sequence with this seed.
    pub(crate) fn value<T: Element>(self, i: u64, seed: u64) -> T {
        T::from_f64(self.number(T::DTYPE, i, seed))
    }

    /// The same for a type, which represents it exactly unless it is normal.
    pub(crate) fn number(self, dtype: DType, i: u64, seed: u64) -> f64 {
        let bits = match dtype {
            DType::F32 | DType::I32 => 24,
            DType::F16 => 11,
            DType::Bf16 | DType::I8 => 8,
            DType::F8E4M3 => 4,
            DType::F8E5M2 => 3,
        };
        let middle = f64::from(1 << (bits - 1));
        let unit = if dtype.is_float() { middle } else { 1.0 };
        match self {
            Self::Uniform => ((hash(seed, i) >> (64 - bits)) as f64 - middle) / unit,
            Self::Integers => (hash(seed, i) >> 32) as f64 % 7.0 - 3.0,
            Self::Normal => {
                let [low, high] = words(i / 4);
                let word = philox(seed, [low, high, 0, NORMAL_TAG])[(i % 4) as usize];
                f64::from(normal(word)) / f64::from(ONE)
            }
        }
    }
}

/// `SplitMix64` (Steele, Lea and Flood, 2014) of a counter: 64 well-mixed bits.
fn hash(seed: u64, counter: u64) -> u64 {
    let mut z = mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(counter.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = mix(z);
    z
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
