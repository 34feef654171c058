//! A checked request for normal numbers, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{DType, dim};
use crate::{Error, Result};

/// The name of the operation in errors and plans.
pub(super) const OP: &str = "random";

shader_dims! {
    /// The uniform of `shaders/ops/normal.wgsl`.
    pub struct NormalDims {
        /// of elements
        count: u32,
        seed_low: u32,
        seed_high: u32,
        /// the number of the first four elements
        first: u32,
    }
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
