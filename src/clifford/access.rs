//! How an invocation loads its operands and stores its result.

use super::problem::{Beside, CliffordProblem};
use super::vector_width::Walk;
use crate::kernel::{Memory, Width};

/// How an invocation loads a blade of an operand, or four blades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// The variant of `read_x`.
    pub(super) read: &'static str,
    /// How many elements `load_x` loads at once.
    pub(super) width: Width,
}

/// What loads four blades of a position.
pub(super) const READ_BLADES: &str = "blades";

impl Load {
    pub(super) fn of(problem: &CliffordProblem, operand: usize, walk: Walk) -> Self {
        let inner = problem.axes()[0][operand + 1];
        let begins = |beside| problem.begin_at_multiples(operand, beside, walk.width().max(2));
        let fours = problem.blades_of(operand).len().is_multiple_of(4)
            && problem.begin_at_multiples(operand, Beside::Blades, 4);
        let (read, width) = match (walk, inner) {
            (Walk::Ones, _) if fours => (READ_BLADES, Width::Four),
            (Walk::Ones, _) | (_, 0) => ("one", Width::One),
            (Walk::Fours, 1) if begins(Beside::Positions) => ("aligned", Width::Four),
            (Walk::Fours, 1) => ("shifted", Width::Four),
            (Walk::Fours, _) => ("positions", Width::One),
            (Walk::Twos, _) if begins(Beside::Positions) => ("aligned", Width::Two),
            (Walk::Twos, _) => ("shifted_two", Width::Two),
        };
        Self { read, width }
    }
}

/// How an invocation stores the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Store {
    /// What lies side by side of what it stores at once.
    pub(super) beside: Beside,
    /// Slots and their variants, but for defaults and what `Kernel::result` fills.
    pub(super) slots: Vec<(&'static str, &'static str)>,
    /// How many elements are stored at once.
    pub(super) width: Width,
}

impl Store {
    pub(super) fn of(problem: &CliffordProblem, walk: Walk, memory: Memory) -> Self {
        let is_last = problem.dims.blades[0] == 1 && walk == Walk::Ones;
        let beside = if is_last { Beside::Blades } else { Beside::Positions };
        let (extent, together) = match beside {
            Beside::Blades => (problem.out.len(), 4),
            Beside::Positions => (problem.dims.axes[0][0] as usize, walk.width()),
        };
        let pairs = memory.per_scalar() == 2;
        let begins = |of| problem.begin_at_multiples(0, beside, of);
        let whole = together > 1 && extent.is_multiple_of(together as usize) && begins(together);
        let (mut slots, mut width) = match (beside, walk) {
            (Beside::Blades, _) if whole && pairs => (vec![("store_beside", "four_packed")], Width::Four),
            (Beside::Blades, _) if whole => (vec![("store_beside", "four_whole")], Width::Four),
            (Beside::Blades, _) => (vec![], Width::One),
            (_, Walk::Fours) if whole && pairs => (vec![("store_beside", "four_packed")], Width::Four),
            (_, Walk::Twos) if whole && pairs => (vec![("store_beside", "two_packed")], Width::Two),
            (_, Walk::Fours) if whole => (vec![("store_beside", "four_whole")], Width::Four),
            (_, Walk::Twos) if whole => (vec![("store_beside", "two_whole")], Width::Two),
            (_, Walk::Fours) => (vec![], Width::One),
            (_, Walk::Twos) => (vec![("store_beside", "two")], Width::One),
            (_, Walk::Ones) => (vec![("store_beside", "one")], Width::One),
        };
        // Pairs that are nobody else's; else `Kernel::result` has halves of them stored.
        if pairs && width == Width::One && together == 4 && begins(2) {
            slots.push(("store_quad", "pairs"));
            width = Width::Two;
        }
        Self { beside, slots, width }
    }
}
