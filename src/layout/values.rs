//! Elements of a type that is known as a value only.

use super::element::{DType, Element};
use super::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

impl DType {
    /// The nearest element to a number, as bits in the lowest bits of a word, and as a number.
    pub(crate) fn nearest(self, value: f64) -> (u32, f64) {
        fn of<T: Element>(value: f64) -> (u32, f64) {
            let value = T::from_f64(value);
            (bits(value), value.to_f64())
        }
        match self {
            Self::F32 => of::<f32>(value),
            Self::F16 => of::<f16>(value),
            Self::Bf16 => of::<bf16>(value),
            Self::I8 => of::<i8>(value),
            Self::I32 => of::<i32>(value),
            Self::F8E4M3 => of::<F8E4M3>(value),
            Self::F8E5M2 => of::<F8E5M2>(value),
        }
    }
}

/// The bits of an element, in the lowest bits of a word.
pub(crate) fn bits<T: Element>(value: T) -> u32 {
    let mut word = [0; 4];
    word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u32::from_le_bytes(word)
}
