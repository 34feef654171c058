//! The parameters that all kernels share that stage blocks in shared memory.

use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, Tile};
use crate::kernel::Kernel;

impl Tile {
    /// The shader with the parameters of every kernel that stages blocks.
    pub(super) fn staged(
        &self,
        shader: &'static str,
        stages: u32,
        problem: &GemmProblem,
        caps: &Caps,
    ) -> Kernel {
        problem
            .bind_dims(Kernel::new(shader), caps)
            .param("BM", self.bm)
            .param("BN", self.bn)
            .param("BK", self.bk)
            .param("STAGES", stages)
    }

    /// The same for kernels with register tiles. `a` and `b` say how the operands are loaded: constants `STAGE_...` of the
    /// shader.
    pub(super) fn staged_in_registers(
        &self,
        shader: &'static str,
        stages: u32,
        [a, b]: [u32; 2],
        problem: &GemmProblem,
        caps: &Caps,
    ) -> Kernel {
        self.staged(shader, stages, problem, caps)
            .param("TM", self.tm)
            .param("TN", self.tn)
            .param("A_STAGE", a)
            .param("B_STAGE", b)
    }
}
