//! The norm of a layer's product: the number by which each grade of the result is divided.

use crate::clifford::algebra::signature::Signature;
use crate::clifford::algebra::signs::grade;
use std::fmt;

/// The norm by which a layer divides each grade G of its product: $r_{G} = \sqrt{m_{G} + \varepsilon}$, one number for
/// each row. $m_{G}$ is a mean over the row's features. The blades of a grade are summed, not averaged.
///
/// Squares are summed in f32. Coefficients above about $2^{63}$ overflow: $r_{G}$ is then infinite and the grade 0, or NaN if
/// squares of both signs cancel, in the backward pass too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GradeNorm {
    /// No norm: the product is not divided.
    None,
    /// $m_{G}$ is the mean of $\sum_{i \in G} o_{i}^2$, $\varepsilon = 10^{-6}$. Versors leave this norm unchanged only
    /// if the metric is definite.
    #[default]
    Rms,
    /// $m_{G}$ is the mean of $|\sum_{i \in G} q_{i} o_{i}^2|$, $\varepsilon = 10^{-2}$. The $q_{i}$ are the squares
    /// $\tilde e_{i} e_{i}$ of the blades ([`Signature::square`]). Versors of any metric leave this norm unchanged.
    ///
    /// A grade whose blades are all null, such as the pseudoscalar of PGA, has no such norm and is not divided. A null
    /// part that is not zero, such as a light-like vector or an ideal line, is divided by at least 0.1.
    Invariant,
}

impl GradeNorm {
    /// Every norm.
    pub const ALL: [Self; 3] = [Self::None, Self::Rms, Self::Invariant];

    /// $\varepsilon$.
    #[must_use]
    pub const fn epsilon(self) -> f64 {
        match self {
            Self::None | Self::Rms => 1e-6,
            Self::Invariant => 1e-2,
        }
    }

    /// The weight of a blade's squared coefficient in the mean of its grade: 1, -1 or 0.
    #[must_use]
    pub fn weight(self, signature: Signature, blade: u8) -> i8 {
        match self {
            Self::None => 0,
            Self::Rms => 1,
            Self::Invariant => signature.square(blade),
        }
    }

    /// The grades that the norm divides: those with a blade whose weight is not 0.
    #[must_use]
    pub fn grades(self, signature: Signature) -> Vec<usize> {
        let counts = |&g: &usize| {
            (0..=signature.pseudoscalar())
                .any(|blade| grade(blade) == g && self.weight(signature, blade) != 0)
        };
        (0..=signature.dimension()).filter(counts).collect()
    }
}

impl fmt::Display for GradeNorm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Rms => "rms",
            Self::Invariant => "invariant",
        })
    }
}
