//! What a layer's product does: the algebra, the gate in front of it and the norm behind it.

use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::algebra::signs::grade;
use crate::ops::Activation;
use std::fmt;

/// What each operand of a layer's product is multiplied by first: a function of its scalar part $x_{0}$.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Nothing.
    None,
    /// $\Phi(x_{0})$, the normal distribution by its definition, within $1.2 \cdot 10^{-7}$: the scalar part becomes its GELU.
    #[default]
    Gelu,
    /// $\frac{1}{2}(1 + \tanh(\sqrt{2 / \pi}\,(x_{0} + 0.044715\,x_{0}^3)))$, which some models have in place of
    /// [`Gelu`](Self::Gelu): the scalar part becomes its GELU by tanh.
    GeluTanh,
}

impl Gate {
    /// Every gate.
    pub const ALL: [Self; 3] = [Self::None, Self::Gelu, Self::GeluTanh];

    /// The activation that the gate makes of the scalar part.
    #[must_use]
    pub const fn activation(self) -> Activation {
        match self {
            Self::None => Activation::None,
            Self::Gelu => Activation::Gelu,
            Self::GeluTanh => Activation::GeluTanh,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.activation().fmt(f)
    }
}

/// What the parts of a layer's result are divided by, grade by grade: $r_{G} = \sqrt{m_{G} + \varepsilon}$ of each row of
/// features, with $m_{G}$ a mean over the features. The blades of a grade are summed, and not averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GradeNorm {
    /// Nothing.
    None,
    /// $m_{G}$ is the mean of $\sum_{i \in G} o_{i}^2$, $\varepsilon = 10^{-6}$. Versors leave it as it is where the metric
    /// is definite, and only there.
    #[default]
    Rms,
    /// $m_{G}$ is the mean of $|\sum_{i \in G} q_{i} o_{i}^2|$ with the squares $q_{i}$ of the blades' reverses
    /// ([`Signature::square`]), $\varepsilon = 10^{-2}$: versors of any metric leave it as it is.
    ///
    /// A grade all of whose blades are null, such as the pseudoscalar of PGA, has no such norm and is left as it is. What is
    /// null without being zero, light-like vectors and ideal lines, is divided by no less than 0.1.
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

    /// What the square of a blade's coefficient counts for in its grade's mean: 1, -1 or 0.
    #[must_use]
    pub fn weight(self, signature: Signature, blade: u8) -> i8 {
        match self {
            Self::None => 0,
            Self::Rms => 1,
            Self::Invariant => signature.square(blade),
        }
    }

    /// The grades that the norm divides: those of which some blade counts.
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

/// A product of multivectors as a layer has it, $N(\sum_{p} w_{p} (\hat x \hat y)_{p})$: operands are gated, each path of the
/// geometric product ([`Signature::paths`]) has weights of its own, and the result is normalised grade by grade. Plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayerProduct {
    /// The algebra, of at most 5 vectors.
    pub signature: Signature,
    /// What is in front of the product.
    pub gate: Gate,
    /// What is behind it.
    pub norm: GradeNorm,
}

impl LayerProduct {
    /// With a GELU in front and the RMS of grades behind.
    #[must_use]
    pub fn new(signature: Signature) -> Self {
        Self { signature, gate: Gate::default(), norm: GradeNorm::default() }
    }

    /// With another gate.
    #[must_use]
    pub fn gate(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    /// With another norm.
    #[must_use]
    pub fn norm(self, norm: GradeNorm) -> Self {
        Self { norm, ..self }
    }

    /// The blades of operands and result: all of the algebra.
    #[must_use]
    pub fn blades(&self) -> Blades {
        self.signature.blades()
    }
}
