//! The multiply-adds of a row's self-test without matrices, as plain data.

use super::self_test::{TestSize, plan_of_words};
use crate::Result;
use crate::caps::{Caps, CoopRow, CoopScalar};
use crate::kernel::Kernel;
use crate::plan::{Access, Dims, Plan};

/// The shader, and the file of its slot.
pub(in crate::gpu) const SHADERS: [&str; 2] = ["gemm/scalar_verify", "gemm/scalar_sums"];

/// Workgroups for each one of the self-test, which has two subgroups with a product each.
const PRODUCTS: u32 = 2;

/// As many multiply-adds as the self-test of a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gpu) struct ScalarCase {
    row: CoopRow,
    subgroup: u32,
    /// Numbers of a pack.
    packed: u32,
    slot: &'static str,
    work: TestSize,
}

impl ScalarCase {
    /// None if invocations cannot share the products of the row.
    pub(in crate::gpu) fn of(row: &CoopRow, subgroup: u32, work: TestSize) -> Option<Self> {
        use CoopScalar::{Bf16, E4m3, E5m2, F16, F32, I8, I32};
        let (packed, slot) = match (row.a, row.c) {
            // Those of 8 bits are f32 before they are multiplied: `tiled` widens them while it stages them.
            (F32 | E4m3 | E5m2, F32) => (1, "f32"),
            (F16, F16) => (2, "f16"),
            (F16, F32) => (2, "f16_to_f32"),
            (Bf16, F32) => (2, "bf16"),
            (I8, I32) => (4, "i8"),
            _ => return None,
        };
        let case = Self { row: *row, subgroup, packed, slot, work };
        let [rows, cols] = case.sums();
        let [m, n, k] = row.tested_sizes();
        let is_shared = rows * cols * subgroup == m * n && m.is_multiple_of(rows) && n.is_multiple_of(cols);
        (is_shared && k.is_multiple_of(packed)).then_some(case)
    }

    /// Whether this test exists for the row, on a device that has its verdict.
    pub(in crate::gpu) fn can_time(row: &CoopRow, caps: &Caps) -> bool {
        let work = TestSize { workgroups: 1, iterations: 1 };
        caps.coop_conditions(row).is_ok_and(|subgroup| Self::of(row, subgroup, work).is_some())
    }

    /// Rows and columns of C that an invocation computes: a whole row, or a part of one.
    fn sums(&self) -> [u32; 2] {
        let [m, n, _] = self.row.tested_sizes();
        let sums = (m * n / self.subgroup).max(1);
        let cols = sums.min(n);
        [sums / cols, cols]
    }

    /// Packs along k.
    fn depth(&self) -> u32 {
        let [_, _, k] = self.row.tested_sizes();
        k / self.packed
    }

    /// Packs that a workgroup stages in an iteration. Rows of A are padded to an odd number of packs.
    fn staged(&self) -> u32 {
        let [m, n, _] = self.row.tested_sizes();
        m * (self.depth() | 1) + self.depth() * n
    }

    /// Bytes of the operands. A pack has four, as has a sum.
    pub(in crate::gpu) fn bytes(&self) -> [usize; 2] {
        let TestSize { workgroups, iterations } = self.work;
        let [m, n, _] = self.row.tested_sizes();
        let c = PRODUCTS * workgroups * m * n;
        [(iterations * self.staged()) as usize * 4, c as usize * 4]
    }

    /// The same test with this much work.
    pub(in crate::gpu) fn of_work(&self, work: TestSize) -> Self {
        Self { work, ..*self }
    }

    /// The plan of the test.
    pub(in crate::gpu) fn plan(&self, caps: &Caps) -> Result<Plan> {
        let [rows, cols] = self.sums();
        let [m, n, _] = self.row.tested_sizes();
        let kernel = Kernel::new(SHADERS[0])
            .slot("scalar_sums", self.slot)
            .param("LANES", self.subgroup)
            .param("M", m)
            .param("N", n)
            .param("DEPTH", self.depth())
            .param("ROWS", rows)
            .param("COLS", cols)
            .dims::<[u32; 4]>(caps);
        let [ab, c] = self.bytes();
        let blocks = u64::from(PRODUCTS * self.work.workgroups);
        let dims = Dims::of(&[self.work.iterations, self.staged(), self.depth(), 0]);
        plan_of_words(caps, kernel, blocks, dims, [("A and B", ab, Access::Read), ("C", c, Access::Write)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn every_row_that_kernels_use_has_its_scalar_test() {
        let work = TestSize { workgroups: 8, iterations: 4 };
        for (name, caps) in fixtures::ALL {
            let caps = caps();
            let used = |row: &&CoopRow| row.is_spelled_in_wgsl() || row.is_used_in_spirv();
            for row in caps.rows.iter().filter(used) {
                let Ok(subgroup) = caps.coop_conditions(row) else { continue };
                let case = ScalarCase::of(row, subgroup, work).unwrap_or_else(|| panic!("{name}: {row}"));
                let plan = case.plan(&caps).unwrap();
                plan.check_on(&caps).unwrap();
                assert_eq!(plan.steps().len(), 1, "{name}: {row}");
            }
        }
        let row = fixtures::lavapipe().rows[0];
        assert_eq!(ScalarCase::of(&row, 128, work), None, "invocations without a sum");
    }
}
