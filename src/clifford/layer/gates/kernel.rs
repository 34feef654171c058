//! The kernel of gates, one invocation for every four positions of a row: what fills its parameters and slots.

use super::problem::{GatesDims, GatesProblem};
use crate::caps::Caps;
use crate::clifford::layer::Gate;
use crate::kernel::{Access, Kernel, Memory, Needs, Width};

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl Gate {
    /// The variant of the slot `gate`.
    pub(in super::super) fn variant(self) -> &'static str {
        match self {
            Self::None => "one",
            Self::Gelu => "gelu",
            Self::GeluTanh => "gelu_tanh",
        }
    }
}

impl GatesProblem {
    /// The limits that a workgroup needs: bindings for the plane of gates and the scalars of both operands.
    pub(super) fn needs() -> Needs {
        Needs { bindings: 3, invocations: LANES, workgroup_bytes: 0 }
    }

    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let operand = Access::read(Memory::of(self.dtype, caps), Width::One);
        Kernel::new("clifford/gates")
            .dims(caps, size_of::<GatesDims>())
            .operand("x", operand)
            .operand("y", operand)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate.variant())
    }
}
