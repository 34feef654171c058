//! How invocations go over the positions of a batch, and what of it they load and store at once.

use super::algebra::function::Function;
use super::problem::{Beside, CliffordDims, CliffordProblem};
use crate::caps::Caps;

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
