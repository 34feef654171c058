//! A number of multiply-adds to time, as plain data.

use crate::kernel::shader_dims;

shader_dims! {
    /// The uniform of `shaders/peak/multiply_add.wgsl`.
    pub struct PeakDims {
        /// of C
        words: u32,
        /// of the loop
        iterations: u32,
        /// 1; the compiler cannot know this
        factor: u32,
        reserved: u32,
    }
}

/// The numbers that are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeakNumber {
    /// f32.
    F32,
    /// f16.
    F16,
    /// Words of four i8.
    I8,
}

/// Multiply-adds that read no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeakProblem {
    pub(super) number: PeakNumber,
    pub(super) dims: PeakDims,
}

impl PeakProblem {
    /// This number of invocations, at least one, with this number of iterations.
    #[must_use]
    pub fn new(number: PeakNumber, invocations: u32, iterations: u32) -> Self {
        let dims = PeakDims { words: invocations.max(1), iterations, factor: 1, reserved: 0 };
        Self { number, dims }
    }

    /// The operations of all invocations.
    #[must_use]
    pub fn operations(&self) -> f64 {
        // Four times eight vectors of four numbers, or of four words of four numbers.
        let multiply_adds = match self.number {
            PeakNumber::F32 | PeakNumber::F16 => 128.0,
            PeakNumber::I8 => 512.0,
        };
        f64::from(self.dims.words) * f64::from(self.dims.iterations) * 2.0 * multiply_adds
    }
}
