//! How an invocation loads its operands and stores its result.

use super::problem::{CliffordProblem, UnitStride};
use super::vector_width::VectorWidth;
use crate::kernel::{AccessWidth, StorageFormat};

/// How an invocation loads an operand: one blade at its positions, or four blades at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// The variant of the shader's slot `read`.
    pub(super) read: &'static str,
    /// The number of elements per load.
    pub(super) width: AccessWidth,
}

/// The variant that loads four blades at one position.
pub(super) const READ_BLADES: &str = "blades";

impl Load {
    /// The loads of X (1) or Y (2).
    pub(super) fn of(problem: &CliffordProblem, operand: usize, positions: VectorWidth) -> Self {
        let inner = problem.inner_stride(operand);
        let is_aligned = |direction| problem.is_aligned(operand, direction, positions.count().max(2));
        let fours = problem.blades_of(operand).len().is_multiple_of(4)
            && problem.is_aligned(operand, UnitStride::Blades, 4);
        let (read, width) = match (positions, inner) {
            (VectorWidth::One, _) if fours => (READ_BLADES, AccessWidth::Four),
            (VectorWidth::One, _) | (_, 0) => ("one", AccessWidth::One),
            (VectorWidth::Four, 1) if is_aligned(UnitStride::Positions) => ("aligned", AccessWidth::Four),
            (VectorWidth::Four, 1) => ("shifted", AccessWidth::Four),
            (VectorWidth::Four, _) => ("positions", AccessWidth::One),
            (VectorWidth::Two, _) if is_aligned(UnitStride::Positions) => ("aligned", AccessWidth::Two),
            (VectorWidth::Two, _) => ("shifted_two", AccessWidth::Two),
        };
        Self { read, width }
    }
}

/// The slot of stores.
const SLOT: &str = "store_consecutive";

/// How an invocation stores the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Store {
    /// The direction of the elements that are stored together.
    pub(super) direction: UnitStride,
    /// The slots that differ from their defaults, without those that `Kernel::result` fills.
    pub(super) slots: Vec<(&'static str, &'static str)>,
    /// The number of elements per store.
    pub(super) width: AccessWidth,
}

impl Store {
    /// The stores of the result.
    pub(super) fn of(problem: &CliffordProblem, positions: VectorWidth, format: StorageFormat) -> Self {
        let is_blade_last = problem.blade_stride(0) == 1 && positions == VectorWidth::One;
        let direction = if is_blade_last { UnitStride::Blades } else { UnitStride::Positions };
        let (extent, count) = match direction {
            UnitStride::Blades => (problem.out.len(), 4),
            UnitStride::Positions => (problem.inner_extent(), positions.count()),
        };
        let is_packed = format.elements_per_scalar() == 2;
        let is_aligned = |of| problem.is_aligned(0, direction, of);
        let is_whole = count > 1 && extent.is_multiple_of(count as usize) && is_aligned(count);
        let (mut slots, mut width) = match (direction, positions) {
            (UnitStride::Blades, _) if is_whole && is_packed => {
                (vec![(SLOT, "four_packed")], AccessWidth::Four)
            }
            (UnitStride::Blades, _) if is_whole => (vec![(SLOT, "four_whole")], AccessWidth::Four),
            (UnitStride::Blades, _) => (vec![], AccessWidth::One),
            (_, VectorWidth::Four) if is_whole && is_packed => {
                (vec![(SLOT, "four_packed")], AccessWidth::Four)
            }
            (_, VectorWidth::Two) if is_whole && is_packed => (vec![(SLOT, "two_packed")], AccessWidth::Two),
            (_, VectorWidth::Four) if is_whole => (vec![(SLOT, "four_whole")], AccessWidth::Four),
            (_, VectorWidth::Two) if is_whole => (vec![(SLOT, "two_whole")], AccessWidth::Two),
            (_, VectorWidth::Four) => (vec![], AccessWidth::One),
            (_, VectorWidth::Two) => (vec![(SLOT, "two")], AccessWidth::One),
            (_, VectorWidth::One) => (vec![(SLOT, "one")], AccessWidth::One),
        };
        // Aligned pairs of 16-bit elements fill a word, which no other invocation writes. `Kernel::result` merges all
        // other 16-bit elements into their words.
        if is_packed && width == AccessWidth::One && count == 4 && is_aligned(2) {
            slots.push(("store_quad", "pairs"));
            width = AccessWidth::Two;
        }
        Self { direction, slots, width }
    }
}
