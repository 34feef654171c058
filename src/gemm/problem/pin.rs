//! What a caller may demand of a plan: a kernel, a tile, a number of splits.

use super::tile::{GemmKernel, Tile};

/// A restriction of the candidates that a plan chooses from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pin {
    /// All candidates.
    #[default]
    Free,
    /// The tiles of one kernel.
    Kernel(GemmKernel),
    /// One tile.
    Tile(Tile),
    /// The kernels that stage blocks of real operands, [`GemmKernel::Tiled`] and [`GemmKernel::Coop`]. With this pin a
    /// product has the same bits whether half of an operand is stored or generated.
    Staged,
}

/// The number of splits of k. Each split is summed by other workgroups; a second launch adds the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitK {
    /// The number that is predicted to be the fastest.
    #[default]
    Auto,
    /// This number, or one split for each 32 elements of k if k is too short for it. 1 turns split-k off.
    Splits(u32),
}
