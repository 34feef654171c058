//! The test of a row of cooperative matrices as plain data, in either language.

use super::module_test::ModuleCase;
use super::self_test::Case;
#[cfg(not(target_arch = "wasm32"))]
use super::self_test::TestSize;
use crate::Result;
use crate::caps::{Caps, CoopRow, Verdict};
use crate::plan::{Plan, Problem};

/// The test of a row: in WGSL if that can express it, else in SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gpu) enum Test {
    Wgsl(Case),
    Spirv(ModuleCase),
}

impl Test {
    pub(in crate::gpu) fn row(&self) -> CoopRow {
        self.row_and_subgroup().0
    }

    pub(in crate::gpu) fn row_and_subgroup(&self) -> (CoopRow, u32) {
        match self {
            Self::Wgsl(case) => (case.row, case.subgroup),
            Self::Spirv(case) => (case.row, case.subgroup),
        }
    }

    /// What the test reads, and the initial contents of what it writes.
    pub(in crate::gpu) fn operands(&self) -> (Vec<Vec<u8>>, Vec<u8>) {
        match self {
            Self::Wgsl(case) => (vec![case.operands()], case.poison()),
            Self::Spirv(case) => (case.operands().to_vec(), case.poison()),
        }
    }

    pub(in crate::gpu) fn judge(&self, bytes: &[u8]) -> Verdict {
        match self {
            Self::Wgsl(case) => case.judge(bytes),
            Self::Spirv(case) => case.judge(bytes),
        }
    }

    /// The plan of this much work of the test's kernel.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn plan_of(&self, work: TestSize, caps: &Caps) -> Result<Plan> {
        match self {
            Self::Wgsl(case) => case.plan_of(work, caps),
            Self::Spirv(case) => case.plan_of(work, caps),
        }
    }

    /// Bytes of the operands of this much work.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn bytes(&self, work: TestSize) -> Vec<usize> {
        match self {
            Self::Wgsl(case) => case.bytes(work).to_vec(),
            Self::Spirv(case) => case.bytes(work).to_vec(),
        }
    }
}

impl Problem for Test {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        match self {
            Self::Wgsl(case) => case.plan(caps),
            Self::Spirv(case) => case.plan(caps),
        }
    }
}
