//! The test of a row of cooperative matrices as plain data, in either language.

use super::module_test::{self, ModuleCase};
use super::self_test::{self, Case, TestSize};
use crate::Result;
use crate::caps::{Caps, CoopRow, Verdict};
use crate::plan::Plan;

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

    /// What the test reads.
    pub(in crate::gpu) fn operands(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Wgsl(case) => vec![case.operands()],
            Self::Spirv(case) => case.operands().to_vec(),
        }
    }

    /// The initial contents of what the test writes: no result and no index of a lane.
    pub(in crate::gpu) fn poison(&self) -> Vec<u8> {
        vec![0xff; self.bytes(self.work()).last().copied().unwrap_or_default()]
    }

    pub(in crate::gpu) fn judge(&self, bytes: &[u8]) -> Verdict {
        match self {
            Self::Wgsl(case) => case.judge(bytes),
            Self::Spirv(case) => case.judge(bytes),
        }
    }

    /// The plan of the test.
    pub(in crate::gpu) fn plan(&self, caps: &Caps) -> Result<Plan> {
        self.plan_of(self.work(), caps)
    }

    /// The plan of this much work of the test's kernel.
    pub(in crate::gpu) fn plan_of(&self, work: TestSize, caps: &Caps) -> Result<Plan> {
        match self {
            Self::Wgsl(case) => case.plan_of(work, caps),
            Self::Spirv(case) => case.plan_of(work, caps),
        }
    }

    /// Bytes of the operands of this much work.
    pub(in crate::gpu) fn bytes(&self, work: TestSize) -> Vec<usize> {
        match self {
            Self::Wgsl(case) => case.bytes(work).to_vec(),
            Self::Spirv(case) => case.bytes(work).to_vec(),
        }
    }

    fn work(&self) -> TestSize {
        match self {
            Self::Wgsl(_) => self_test::WORK,
            Self::Spirv(_) => module_test::WORK,
        }
    }
}
