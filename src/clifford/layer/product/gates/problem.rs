//! The product of two operands' gates: the checked problem, as plain data.

use crate::Result;
use crate::clifford::layer::gate::Gate;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim};

pub(super) const OP: &str = "gates";

shader_dims! {
    /// The uniform of `shaders/clifford/gates.wgsl`, in elements.
    pub struct GatesDims {
        rows: u32,
        features: u32,
        /// groups of four features per row
        units: u32,
        /// first scalar part in its binding
        x_offset: u32,
        /// strides of X, in elements
        x_row: u32,
        x_feature: u32,
        y_offset: u32,
        y_row: u32,
        y_feature: u32,
        reserved0: u32,
        reserved1: u32,
        reserved2: u32,
    }
}

/// The product of two operands' gates at every position, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatesProblem {
    /// The shader's uniform.
    pub(crate) dims: GatesDims,
    /// The gate.
    pub(crate) gate: Gate,
    /// The element type of the operands.
    pub(crate) dtype: DType,
}

impl GatesProblem {
    /// The gates of two operands, from their scalar parts (1, row, feature), which have the same shape.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If an operand has fewer than three axes.
    pub fn new(gate: Gate, [x, y]: [&Layout; 2], dtype: DType) -> Result<Self> {
        let features = dim(OP, x.shape()[2])?;
        let dims = GatesDims {
            rows: dim(OP, x.shape()[1])?,
            features,
            units: features.div_ceil(4),
            x_offset: x.offset_in_window(dtype),
            x_row: dim(OP, x.strides()[1])?,
            x_feature: dim(OP, x.strides()[2])?,
            y_offset: y.offset_in_window(dtype),
            y_row: dim(OP, y.strides()[1])?,
            y_feature: dim(OP, y.strides()[2])?,
            ..GatesDims::default()
        };
        Ok(Self { dims, gate, dtype })
    }

    /// The layouts of the scalars (row, feature).
    pub(super) fn layouts(&self) -> Result<[Layout; 2]> {
        let d = &self.dims;
        let shape = [d.rows, d.features].map(|extent| extent as usize);
        let plane = |[offset, row, feature]: [u32; 3]| {
            Layout::new(OP, &shape, &[row as usize, feature as usize], offset as usize, usize::MAX)
        };
        Ok([plane([d.x_offset, d.x_row, d.x_feature])?, plane([d.y_offset, d.y_row, d.y_feature])?])
    }
}
