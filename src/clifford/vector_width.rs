//! The vector width: the number of positions that an invocation computes.

use super::algebra::function::Function;
use super::problem::{CliffordProblem, UnitStride};
use crate::caps::Caps;

/// The maximum number of values of operands and result together for a width of four. It is tuned for these kernels and
/// independent of the registers. With more values, loads of two positions are wide enough.
const MAX_VALUES_OF_FOUR: usize = 48;

/// Positions along the innermost axis that an invocation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VectorWidth {
    /// Four consecutive positions.
    Four,
    /// Two consecutive positions.
    Two,
    /// One position.
    One,
}

impl VectorWidth {
    /// The width for a problem on a device.
    pub(super) fn of(problem: &CliffordProblem, caps: &Caps) -> Self {
        // A broadcast versor is shared by all positions of an invocation.
        let is_shared =
            |&i: &usize| i == 1 && problem.function == Function::Sandwich && problem.inner_stride(1) == 0;
        let blades: usize = (0..3).filter(|i| !is_shared(i)).map(|i| problem.blades_of(i).len()).sum();
        let operands = 1..=problem.function.operands();
        let inner = |i: usize| problem.inner_stride(i);
        let is_contiguous = inner(0) == 1 && problem.blade_stride(0) != 1;
        let begin =
            |of| operands.clone().all(|i| problem.is_aligned(i, UnitStride::Positions, of) || inner(i) == 0);
        // A quarter of the registers is reserved for everything else.
        let of_two = caps.machine.registers as usize / 4 * 3;
        // An unaligned load takes two vector loads and a select. That is slower than loads of elements if a vector load
        // takes as long as loads of its elements.
        let anywhere = caps.machine.elements_per_load > 1;
        if is_contiguous && 4 * blades <= MAX_VALUES_OF_FOUR && (anywhere || begin(4)) {
            Self::Four
        } else if is_contiguous
            && 2 * blades <= of_two
            && operands.clone().all(|i| inner(i) <= 1)
            && (anywhere || begin(2))
        {
            Self::Two
        } else {
            Self::One
        }
    }

    /// The number of positions.
    pub(super) fn count(self) -> u32 {
        match self {
            Self::Four => 4,
            Self::Two => 2,
            Self::One => 1,
        }
    }

    /// The WGSL type of one value at each position.
    pub(super) fn wgsl_type(self) -> &'static str {
        match self {
            Self::Four => "vec4<f32>",
            Self::Two => "vec2<f32>",
            Self::One => "f32",
        }
    }
}
