//! The product of two operands' gates: the checked problem, as plain data.

use crate::Result;
use crate::clifford::layer::gate::Gate;
use crate::layout::{DType, Layout, dim};

pub(super) const OP: &str = "gates";

/// The uniform of `shaders/clifford/gates.wgsl`, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct GatesDims {
    pub rows: u32,
    pub features: u32,
    pub units: u32,
    pub x_offset: u32,
    pub x_row: u32,
    pub x_feature: u32,
    pub y_offset: u32,
    pub y_row: u32,
    pub y_feature: u32,
    pub reserved0: u32,
    pub reserved1: u32,
    pub reserved2: u32,
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
