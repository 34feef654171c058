//! How kernels load the operands that they stage.

use crate::kernel::AccessWidth;

/// How the tiled kernel loads an operand: the constants `STAGE_...` of `gemm/tiled.wgsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TiledStage {
    /// Element by element; consecutive lanes read along k.
    ScalarK = 0,
    /// Element by element; consecutive lanes read along the outer axis.
    ScalarOuter = 1,
    /// Vectors of four elements along the outer axis.
    VectorOuter = 2,
    /// Squares of four vectors along k, transposed in registers: shared memory stores four elements along the outer axis
    /// together.
    Squares = 3,
}

impl TiledStage {
    /// The widest load for an operand with this outer extent, these strides and starts. Vectors along the outer axis must be
    /// aligned and lie within it. Vectors along k must be aligned; they may extend past its end, beyond which they are zeroed.
    pub(super) fn of(outer: u32, [outer_stride, k_stride]: [u32; 2], starts: [u32; 3]) -> Self {
        let in_fours = |sizes: &[u32]| sizes.iter().chain(&starts).all(|size| size.is_multiple_of(4));
        match [outer_stride, k_stride] {
            [1, _] if in_fours(&[outer, k_stride]) => Self::VectorOuter,
            [1, _] => Self::ScalarOuter,
            [_, 1] if in_fours(&[outer_stride]) => Self::Squares,
            _ => Self::ScalarK,
        }
    }

    /// The number of elements per load.
    pub(super) fn width(self) -> AccessWidth {
        match self {
            Self::VectorOuter | Self::Squares => AccessWidth::Four,
            Self::ScalarK | Self::ScalarOuter => AccessWidth::One,
        }
    }
}

/// The size of one load of the coop kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadSize {
    /// A unit of eight f16 elements, 16 bytes.
    Units,
    /// One element.
    Elements,
}

impl LoadSize {
    /// The element type of the operand's binding.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Units => "Unit",
            Self::Elements => "f16",
        }
    }
}
