//! How invocations go over the positions of a batch, and what of it they load and store at once.

use super::function::Function;
use super::problem::{Beside, CliffordDims, CliffordProblem};
use crate::caps::Caps;
use crate::kernel::{StorageFormat, VectorWidth};

/// Numbers of operands and result together that an invocation has of four positions, whatever registers there are: these
/// kernels' own tuning. With more, two positions are enough to load at once.
const NUMBERS: usize = 48;

/// How invocations go over positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// Each has four positions side by side, of every blade.
    Fours,
    /// Each has two positions side by side.
    Twos,
    /// Each has one position.
    Ones,
}

impl Walk {
    pub(super) fn of(problem: &CliffordProblem, caps: &Caps) -> Self {
        // A versor that is repeated is one for all lanes.
        let is_shared =
            |&i: &usize| i == 1 && problem.function == Function::Sandwich && problem.is_repeated(1);
        let blades: usize = (0..3).filter(|i| !is_shared(i)).map(|i| problem.blades_of(i).len()).sum();
        let operands = 1..=problem.function.operands();
        let inner = |i: usize| problem.axes()[0][i + 1];
        let is_beside = inner(0) == 1 && problem.dims.blades[0] != 1;
        let begin = |of| {
            operands.clone().all(|i| problem.begin_at_multiples(i, Beside::Positions, of) || inner(i) == 0)
        };
        // A quarter of the registers are for all else.
        let of_two = caps.machine.registers as usize / 4 * 3;
        // Loads that begin anywhere are two loads of vectors and a choice: longer than of elements, if a vector takes as long
        // as its elements.
        let anywhere = caps.machine.elements_per_load > 1;
        if is_beside && 4 * blades <= NUMBERS && (anywhere || begin(4)) {
            Self::Fours
        } else if is_beside
            && 2 * blades <= of_two
            && operands.clone().all(|i| inner(i) <= 1)
            && (anywhere || begin(2))
        {
            Self::Twos
        } else {
            Self::Ones
        }
    }

    /// Positions of an invocation.
    pub(super) fn width(self) -> u32 {
        match self {
            Self::Fours => 4,
            Self::Twos => 2,
            Self::Ones => 1,
        }
    }

    /// The type of an invocation's positions.
    pub(super) fn lanes(self) -> &'static str {
        match self {
            Self::Fours => "vec4<f32>",
            Self::Twos => "vec2<f32>",
            Self::Ones => "f32",
        }
    }

    /// The problem's uniform.
    pub(super) fn dims(self, problem: &CliffordProblem) -> CliffordDims {
        let mut dims = problem.dims;
        dims.units = dims.axes[0][0].div_ceil(self.width());
        let rows: u32 = problem.axes()[1..].iter().map(|axis| axis[0]).product();
        dims.offsets[3] = dims.units * rows;
        dims
    }
}

/// How an invocation loads a blade of an operand, or four blades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// The variant of `read_x`.
    pub(super) read: &'static str,
    /// How many elements `load_x` loads at once.
    pub(super) width: VectorWidth,
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
            (Walk::Ones, _) if fours => (READ_BLADES, VectorWidth::Four),
            (Walk::Ones, _) | (_, 0) => ("one", VectorWidth::One),
            (Walk::Fours, 1) if begins(Beside::Positions) => ("aligned", VectorWidth::Four),
            (Walk::Fours, 1) => ("shifted", VectorWidth::Four),
            (Walk::Fours, _) => ("positions", VectorWidth::One),
            (Walk::Twos, _) if begins(Beside::Positions) => ("aligned", VectorWidth::Two),
            (Walk::Twos, _) => ("shifted_two", VectorWidth::Two),
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
    pub(super) width: VectorWidth,
}

impl Store {
    pub(super) fn of(problem: &CliffordProblem, walk: Walk, format: StorageFormat) -> Self {
        let is_last = problem.dims.blades[0] == 1 && walk == Walk::Ones;
        let beside = if is_last { Beside::Blades } else { Beside::Positions };
        let (extent, together) = match beside {
            Beside::Blades => (problem.out.len(), 4),
            Beside::Positions => (problem.dims.axes[0][0] as usize, walk.width()),
        };
        let pairs = format.elements_per_scalar() == 2;
        let begins = |of| problem.begin_at_multiples(0, beside, of);
        let whole = together > 1 && extent.is_multiple_of(together as usize) && begins(together);
        let (mut slots, mut width) = match (beside, walk) {
            (Beside::Blades, _) if whole && pairs => {
                (vec![("store_consecutive", "four_packed")], VectorWidth::Four)
            }
            (Beside::Blades, _) if whole => (vec![("store_consecutive", "four_whole")], VectorWidth::Four),
            (Beside::Blades, _) => (vec![], VectorWidth::One),
            (_, Walk::Fours) if whole && pairs => {
                (vec![("store_consecutive", "four_packed")], VectorWidth::Four)
            }
            (_, Walk::Twos) if whole && pairs => {
                (vec![("store_consecutive", "two_packed")], VectorWidth::Two)
            }
            (_, Walk::Fours) if whole => (vec![("store_consecutive", "four_whole")], VectorWidth::Four),
            (_, Walk::Twos) if whole => (vec![("store_consecutive", "two_whole")], VectorWidth::Two),
            (_, Walk::Fours) => (vec![], VectorWidth::One),
            (_, Walk::Twos) => (vec![("store_consecutive", "two")], VectorWidth::One),
            (_, Walk::Ones) => (vec![("store_consecutive", "one")], VectorWidth::One),
        };
        // Pairs that are nobody else's; else `Kernel::result` has halves of them stored.
        if pairs && width == VectorWidth::One && together == 4 && begins(2) {
            slots.push(("store_quad", "pairs"));
            width = VectorWidth::Two;
        }
        Self { beside, slots, width }
    }
}
