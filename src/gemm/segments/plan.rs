//! How a product that is summed over segments is computed: by the step or steps that the matrix product chooses. The table is
//! a constant of the plan.

use super::problem::{Formed, Gated, SegmentedProblem, Segments};
use crate::Result;
use crate::caps::Caps;
use crate::gemm::layouts::Operand;
use crate::gemm::problem::{GemmProblem, OP};
use crate::plan::{Draft, Plan, Problem};

/// The place of the table among a product's operands.
const TABLE: usize = 3;

/// Why a kernel is not for such products.
pub(in crate::gemm) const ONE_PLANE: &str = "one plane of each operand, not one for each segment of k";

impl Problem for SegmentedProblem {
    /// Operands: A, B, C; Y and the plane of gates, where A is formed of them. The table is a constant.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let mut operands = Vec::new();
        for (at, operand) in self.problem.operands()?.into_iter().enumerate() {
            let Operand { name, dtype, layout, access } = operand;
            let is_table = at == TABLE;
            operands.push(if is_table {
                draft.constant(&self.table)?
            } else {
                draft.operand(name, dtype, layout, access)
            });
        }
        self.problem.check_bound(caps)?;
        self.problem.alone(&mut draft, &operands)?;
        Ok(draft.finish())
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        Ok(self.plan(caps)?.because(self.problem.reasons(caps)?))
    }
}

impl GemmProblem {
    /// Multiply-adds, without those that form an operand.
    pub(in crate::gemm) fn multiply_adds(&self) -> f64 {
        let d = &self.dims;
        match self.segments() {
            // What of each segment is not filled up.
            Some(Segments { total, length, .. }) => {
                f64::from(total) * f64::from(d.m) * f64::from(d.n) * f64::from(length)
            }
            None => f64::from(d.batches) * f64::from(d.m) * f64::from(d.n) * f64::from(d.k),
        }
    }
}

impl Segments {
    /// The number of storage bindings beside A, B and C: the table, and what A is formed of.
    pub(in crate::gemm) fn bindings(&self) -> u32 {
        match self.formed {
            Formed::InMemory => 1,
            Formed::Products(Gated::No) => 2,
            Formed::Products(Gated::Yes) => 3,
        }
    }
}
