//! A checked request for normal numbers, as plain data.

use crate::layout::{DType, dim};
use crate::{Error, Result};

/// The name of the operation in errors and plans.
pub(super) const OP: &str = "random";

/// The uniform of `shaders/ops/normal.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct NormalDims {
    pub count: u32,
    pub seed_low: u32,
    pub seed_high: u32,
    pub first: u32,
}

/// A checked request for standard normal numbers. The call passes the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NormalProblem {
    pub(super) count: u32,
    pub(super) dtype: DType,
    /// The index of the first group of four in the sequence.
    pub(super) first: u32,
}

impl NormalProblem {
    /// `count` numbers of a type of reals.
    ///
    /// # Errors
    /// [`Error::Input`] for integers; [`Error::Shape`] for no numbers; [`Error::Limit`] for $2^{31}$ or more.
    pub fn new(count: usize, dtype: DType) -> Result<Self> {
        if !dtype.is_real() {
            return Err(Error::input("random: the type", format!("it must be of reals, not {dtype}")));
        }
        if count == 0 {
            return Err(Error::shape(OP, "there must be at least one number", &[count]));
        }
        Ok(Self { count: dim(OP, count)?, dtype, first: 0 })
    }
}
