//! How kernels load the operands that they stage.

use crate::kernel::AccessWidth;

/// How the tiled kernel loads an operand: the constants `STAGE_...` of `gemm/tiled.wgsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Element by element; consecutive lanes read along k.
    ScalarK = 0,
    /// Element by element; consecutive lanes read along the outer axis.
    ScalarOuter = 1,
    /// Vectors of four elements along the outer axis.
    VectorOuter = 2,
}

impl Stage {
    /// The widest load for an operand with this outer extent, these strides and starts: vectors if the outer axis is
    /// contiguous and every vector is aligned and lies within it. There are no vectors along k: shared memory stores four
    /// elements along the outer axis together, and consecutive lanes that read along k still access consecutive elements.
    pub(super) fn of(outer: u32, [outer_stride, k_stride]: [u32; 2], starts: [u32; 3]) -> Self {
        let whole = [outer, k_stride].iter().chain(&starts).all(|size| size.is_multiple_of(4));
        match outer_stride {
            1 if whole => Self::VectorOuter,
            1 => Self::ScalarOuter,
            _ => Self::ScalarK,
        }
    }

    /// The number of elements per load.
    pub(super) fn width(self) -> AccessWidth {
        match self {
            Self::VectorOuter => AccessWidth::Four,
            Self::ScalarK | Self::ScalarOuter => AccessWidth::One,
        }
    }
}

/// The size of one load of the coop kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loads {
    /// A unit of eight f16 elements, 16 bytes.
    Units,
    /// One element.
    Elements,
}

impl Loads {
    /// The element type of the operand's binding.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Units => "Unit",
            Self::Elements => "f16",
        }
    }
}
