//! The data for trying the candidates of a problem on a device.

use super::executable::Plan;
use super::scalars::Scalar;

/// The data for trying the candidates of a problem on a device: operands, numbers, and a simple reference plan. The
/// candidates must have its results, within their error bounds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// The problem in a few words, such as `matmul 256x256x256 f32`.
    pub description: String,
    /// The reference plan. It takes the operands and scalars of the candidates.
    pub reference: Plan,
    /// The numbers of the call.
    pub scalars: Vec<Scalar>,
    /// The runs, each with other operands. Candidates are timed with the operands of the last run.
    pub runs: Vec<TrialRun>,
}

/// The operands of one run, and the largest allowed difference of results.
///
/// A run has to distinguish faults from rounding errors. If a bound grows with the length of the sums, most terms are zero:
/// then few terms are rounded, and a lost term is a large share of the result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrialRun {
    /// The contents of each operand, in the order of the plan's parameters. None for outputs that are only written.
    pub values: Vec<TrialValues>,
    /// The largest difference between results of the reference and of a candidate, for each output in the order of the plan's
    /// parameters.
    pub tolerances: Vec<Tolerance>,
}

/// The contents of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrialValues {
    /// Real numbers in $[0, 1]$; integers of the whole range of i8.
    Positive,
    /// Real numbers in $[-1, 1)$.
    Signed,
    /// Real numbers in $[0, 1/n]$.
    Fraction(u32),
    /// Integers from -3 to 3.
    Integers,
    /// 1 or -1 in one of `one_in` places, at random; 0 in the others.
    Signs {
        /// At least 1.
        one_in: u32,
    },
    /// The integer `height` in one of `one_in` places, at random; 0 in the others.
    Spikes {
        /// At least 1.
        one_in: u32,
        /// Exact in the operand's type.
        height: i32,
    },
    /// Integers from the first to the second of these numbers.
    Between(i32, i32),
    /// This number everywhere.
    Each(i32),
}

/// The largest allowed distance of a result from the reference's result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// A factor of the magnitude of the reference's result.
    pub relative: f64,
    /// An absolute distance, which is added.
    pub absolute: f64,
}

impl Tolerance {
    /// Whether a result is within this distance. Equal infinities agree, and NaN agrees with nothing.
    #[must_use]
    pub fn allows(&self, result: f64, reference: f64) -> bool {
        let allowed = self.relative * reference.abs() + self.absolute;
        result == reference || (result - reference).abs() <= allowed && allowed.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::Tolerance;

    #[test]
    fn results_that_are_not_numbers_are_never_near() {
        let tolerance = Tolerance { relative: 0.1, absolute: 0.5 };
        for (result, reference, is_near) in [
            (10.0, 10.0, true),
            (11.5, 10.0, true),
            (11.6, 10.0, false),
            (-11.5, -10.0, true),
            (f64::INFINITY, f64::INFINITY, true),
            (f64::INFINITY, 10.0, false),
            (10.0, f64::INFINITY, false),
            (f64::NEG_INFINITY, f64::INFINITY, false),
            (f64::NAN, 10.0, false),
            (10.0, f64::NAN, false),
            (f64::NAN, f64::NAN, false),
        ] {
            assert_eq!(tolerance.allows(result, reference), is_near, "{result} for {reference}");
        }
        assert!(Tolerance::default().allows(2.0, 2.0) && !Tolerance::default().allows(2.0, 2.0000001));
    }
}
