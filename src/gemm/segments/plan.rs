//! The plan of a product over segments: the steps that the matrix product chooses. The table is a constant of the plan.

use super::problem::SegmentedProblem;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::OP;
use crate::plan::{Draft, Plan, Problem, distinct};

/// Index of the table among the operands of a product.
const TABLE: usize = 3;

impl Problem for SegmentedProblem {
    /// Operands: A, B, C; if A's planes are products, their right factor Y, and the plane of gates if there is one. The table
    /// is a constant.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let mut operands = Vec::new();
        for (at, operand) in self.problem.operands()?.iter().enumerate() {
            operands.push(if at == TABLE { draft.constant(&self.table)? } else { draft.add(operand).0 });
        }
        self.problem.check_bound(caps)?;
        self.problem.add_inner_steps(&mut draft, &operands)?;
        Ok(draft.finish())
    }

    /// The scalars of the matrix product.
    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        let restricted = self.problem.restricted(caps)?.into_iter();
        distinct(restricted.map(|problem| Self { problem, table: self.table.clone() }.plan(caps)))
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        Ok(self.plan(caps)?.because(self.problem.reasons(caps)?))
    }
}
