//! How a dense operator is applied: by the steps of a matrix product, one of whose operands is made in the kernel.

use super::problem::DenseProblem;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::{Distribution, GemmProblem, GemmTypes, GeneratedOperand, OuterAxis, Side};
use crate::layout::{DType, Layout};
use crate::plan::{Access, Draft, Plan, Problem};
use crate::sketch::along::Along;
use crate::sketch::apply::Way;
use crate::sketch::normal;
use crate::sketch::operator::OP;

impl Problem for DenseProblem {
    /// A product with an operand that is made in the kernel.
    ///
    /// Operands: x, the result. Scalars: the seed and the scale.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, self.scalars(), caps);
        let Product { problem, side, x, y, result } = self.product()?;
        let x = draft.operand("x", self.dtype, self.x, Access::Read).seen_as(x);
        let y = draft.operand("the result", DType::F32, result, Access::Write).seen_as(y);
        let words = if self.entries == Distribution::Normal { normal::table() } else { &[0] };
        debug_assert!(words.len() as u64 == self.entries.table_words());
        let table = draft.constant(words)?;
        let operands = if side == Side::A { [table, x, y] } else { [x, table, y] };
        let product = problem.plan(caps)?;
        // What the product calls alpha is the operator's scale.
        let names =
            product.scalars().iter().map(|scalar| if scalar.name == "alpha" { "scale" } else { scalar.name });
        let scalars: Vec<usize> = names.filter_map(|name| draft.scalar(name)).collect();
        draft.call(product, &operands, &scalars)?;
        Ok(draft.finish())
    }

    /// As [`plan`](Self::plan), with the product's reasons.
    fn explain(&self, caps: &Caps) -> Result<Plan> {
        let product = self.product()?.problem.explain(caps)?;
        Ok(self.plan(caps)?.because(product.reasons().iter().cloned()))
    }
}

/// The product that applies an operator.
struct Product {
    problem: GemmProblem,
    /// Which of its operands is made.
    side: Side,
    /// The other one, as a matrix or a batch of them.
    x: Layout,
    /// Its result.
    y: Layout,
    /// The same, shaped as the operand.
    result: Layout,
}

impl DenseProblem {
    fn product(&self) -> Result<Product> {
        let [from, to] = self.extents;
        let along = Along::of(&self.x, self.axis, to)?;
        let result = Layout::contiguous(OP, &along.shape)?;
        let (side, x, y) = along.as_product(&self.x, &result)?;
        let made = Layout::contiguous(OP, &if side == Side::A { [to, from] } else { [from, to] })?;
        let (a, b) = if side == Side::A { (&made, &x) } else { (&x, &made) };
        let outer = if self.way == Way::Forward { OuterAxis::Rows } else { OuterAxis::Columns };
        let generated = GeneratedOperand { side, entries: self.entries, outer, tag: self.tag };
        let types = GemmTypes::new(self.dtype, DType::F32);
        let mut problem = GemmProblem::new(a, b, &y, types)?.pinned(self.pin).generated(generated);
        problem.epilogue.scale = self.scale;
        Ok(Product { problem, side, x, y, result })
    }
}
