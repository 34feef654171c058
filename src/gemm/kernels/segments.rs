//! What kernels have of products that are summed over segments: how A is staged, and what fills their slots.

use crate::gemm::memory::Stage;
use crate::gemm::problem::GemmProblem;
use crate::gemm::segments::{Formed, Gated, Segments};
use crate::kernel::{Access, Kernel, Memory};

impl Segments {
    /// How A is staged by the tiled kernel: by vectors only if both operands of its products come so.
    pub(super) fn stage(&self, problem: &GemmProblem, a: Stage) -> Stage {
        let y = &self.y;
        let stage_of_y = || Stage::of(problem.dims.m, [y.outer, y.k], y.starts());
        match (self.formed, a) {
            (Formed::Products(_), Stage::VectorOuter) if stage_of_y() != a => Stage::ScalarOuter,
            _ => a,
        }
    }

    /// Binds what all kernels have of it.
    fn bind(&self, kernel: Kernel) -> Kernel {
        let kernel = kernel.slot("segments", "of_planes");
        match self.formed {
            Formed::Products(Gated::Yes) => kernel.slot("product_terms_of_a", "gated"),
            Formed::Products(Gated::No) | Formed::InMemory => kernel,
        }
    }

    /// Binds what the tiled kernel has of it, whose operands lie in `memory` and whose A is staged so.
    pub(super) fn bind_tiled(&self, kernel: Kernel, memory: Memory, a: Stage) -> Kernel {
        let kernel = self.bind(kernel);
        if self.formed == Formed::InMemory {
            return kernel;
        }
        kernel.operand("y", Access::read(memory, a.width())).slot("memory_a", "products")
    }

    /// Binds what the kernel on cooperative matrices has of it, if A is not in memory, whose operands come by units of eight
    /// or by elements.
    pub(super) fn bind_coop(&self, kernel: Kernel, by: Eights) -> Kernel {
        let kernel = self.bind(kernel);
        if self.formed == Formed::InMemory {
            return kernel;
        }
        let kernel = match by {
            Eights::Units => kernel.slot("eight_a", "unit").slot("eight_y", "unit").param("y_unit", "Unit"),
            Eights::Elements => kernel.param("y_unit", "f16"),
        };
        kernel.slot("coop_load_a", "products")
    }

    /// The right operand of A's products as the coop kernel looks at operands: strides and where planes start.
    pub(super) fn second(&self) -> Option<([u32; 2], [u32; 3])> {
        let y = &self.y;
        (self.formed != Formed::InMemory).then(|| ([y.outer, y.k], y.starts()))
    }
}

/// How eight elements of the operands of A's products are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eights {
    Units,
    Elements,
}
