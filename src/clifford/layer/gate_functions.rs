//! The gate functions of the shaders: their variant in the slot `gate`, and the operations of a call. A test compares
//! the operations with the shaders.

use super::gate::Gate;
use crate::kernel::wgsl::Callee;

impl Gate {
    /// The variant of the slot `gate`.
    pub(super) const fn variant(self) -> &'static str {
        match self {
            Self::None => "one",
            Self::Gelu => "gelu",
            Self::GeluTanh => "gelu_tanh",
        }
    }

    /// Arithmetic operations of the gate of one number, and of its derivative.
    pub(super) const fn flops(self) -> [usize; 2] {
        match self {
            Self::None => [0, 0],
            Self::Gelu => [26, 29],
            Self::GeluTanh => [34, 67],
        }
    }

    /// The shader's function `gate`. It takes four numbers; the caller uses `used` of them.
    pub(super) fn function_of(self, used: usize) -> Callee {
        Callee::new("gate", self.flops()[0] * used)
    }

    /// Its derivative, `gate_slope`. It takes four numbers; the caller uses `used` of them.
    pub(super) fn slope_of(self, used: usize) -> Callee {
        Callee::new("gate_slope", self.flops()[1] * used)
    }
}
