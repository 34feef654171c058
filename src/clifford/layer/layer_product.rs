//! A layer's product as plain data: the algebra, the gate of its operands and the norm of its result.

use super::gate::Gate;
use super::grade_norm::GradeNorm;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signature::Signature;

/// The weighted product of multivectors in a layer, $N(\sum_{p} w_{p} (\hat x \hat y)\_{p})$. Operands are gated, each
/// path of the geometric product ([`Signature::paths`]) has its own weights, and the result is normalised grade by
/// grade. Plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayerProduct {
    /// The algebra, of at most 5 vectors.
    pub signature: Signature,
    /// The gate of both operands.
    pub gate: Gate,
    /// The norm of the result.
    pub norm: GradeNorm,
}

/// How a layer's product combines features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductKind {
    /// Feature by feature: one weight for each path and feature.
    Steerable,
    /// Every input feature with every output feature: one matrix (in, out) for each path.
    Connected,
}

impl LayerProduct {
    /// A product with [`Gate::Gelu`] and [`GradeNorm::Rms`].
    #[must_use]
    pub fn new(signature: Signature) -> Self {
        Self { signature, gate: Gate::default(), norm: GradeNorm::default() }
    }

    /// Sets the gate.
    #[must_use]
    pub fn gate(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    /// Sets the norm.
    #[must_use]
    pub fn norm(self, norm: GradeNorm) -> Self {
        Self { norm, ..self }
    }

    /// The blades of operands and result: all blades of the algebra.
    #[must_use]
    pub fn blades(&self) -> Blades {
        self.signature.blades()
    }
}
