//! Making tensors: from data, from nothing, at random.

use super::Tensor;
use crate::gpu::{Allocation, Gpu};
use crate::layout::{DType, Element, Layout};
use crate::{Error, Result};

/// What a tensor is filled with at random: the same values everywhere for the same seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Uniform in [-1, 1): multiples of $2^{-23}$ in f32, the same rounded down to multiples of $2^{-10}$ in f16 and of
    /// $2^{-7}$ in bf16. Exact, never a subnormal; f32 values need all their bits, so that a kernel that drops some
    /// shows. Integers are uniform over all that i8 has, and over 24 bits of i32.
    Uniform,
    /// Integers in -3..=3: their products are exact, so that a wrong index shows as a wrong integer.
    Integers,
}

impl Gpu {
    /// Uploads `data`, row-major, as a tensor of this shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shape has another number of elements than `data`, or more than 6 axes;
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if there is no room.
    pub fn tensor<T: Element>(&self, data: &[T], shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        let layout = Layout::contiguous("tensor", shape.as_ref())?;
        if layout.len() != data.len() {
            let rule = "the data must have as many elements as the shape";
            return Err(Error::shapes("tensor", rule, &[data.len()], shape.as_ref()));
        }
        Ok(Tensor::on(self.upload("tensor", bytemuck::cast_slice(data))?, layout))
    }

    /// A tensor whose elements are unspecified until something is written into it.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn empty<T: Element>(&self, shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        let layout = Layout::contiguous("empty", shape.as_ref())?;
        let bytes = layout.len() as u64 * T::DTYPE.size() as u64;
        Ok(Tensor::on(self.allocate("empty", bytes)?, layout))
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn zeros<T: Element>(&self, shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        self.filled("zeros", shape.as_ref(), |_, _| ())
    }

    /// A tensor of random values: element $i$ depends on the seed and $i$ alone.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn random<T: Element>(&self, shape: impl AsRef<[usize]>, fill: Fill, seed: u64) -> Result<Tensor<T>> {
        self.filled("random", shape.as_ref(), |start, elements| {
            for (i, element) in (start..).zip(elements) {
                *element = fill.value(i, seed);
            }
        })
    }

    /// A tensor that the host makes chunk by chunk, row-major: each call fills the elements from a place on, which are zeros
    /// at first, and then what the call before has left. There is room for the tensor before the first call.
    pub(crate) fn filled<T: Element>(
        &self,
        op: &'static str,
        shape: &[usize],
        fill: impl FnMut(u64, &mut [T]),
    ) -> Result<Tensor<T>> {
        let layout = Layout::contiguous(op, shape)?;
        Ok(Tensor::on(self.upload_chunks(op, layout.len(), fill)?, layout))
    }
}

impl<T: Element> Tensor<T> {
    /// The elements that a plan has put in a new buffer, row-major ([`Gpu::make`]).
    pub(crate) fn made(allocation: Allocation, shape: impl AsRef<[usize]>) -> Result<Self> {
        let made = Self::on(allocation, Layout::contiguous("made", shape.as_ref())?);
        debug_assert!(made.is_empty() || made.covers_storage(), "{:?}", made.shape());
        Ok(made)
    }
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

    /// The value at place `i` of the sequence with this seed.
    pub(crate) fn value<T: Element>(self, i: u64, seed: u64) -> T {
        let bits = match T::DTYPE {
            DType::F32 | DType::I32 => 24,
            DType::F16 => 11,
            DType::Bf16 | DType::I8 => 8,
        };
        let middle = f64::from(1 << (bits - 1));
        let unit = if T::DTYPE.is_real() { middle } else { 1.0 };
        T::from_f64(match self {
            Self::Uniform => ((hash(seed, i) >> (64 - bits)) as f64 - middle) / unit,
            Self::Integers => (hash(seed, i) >> 32) as f64 % 7.0 - 3.0,
        })
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
