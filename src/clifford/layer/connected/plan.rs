//! How a fully connected product and its gradients are computed: the steps from operands to result.

use super::back::ConnectedBackProblem;
use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, Multiplied, OP};
use crate::Result;
use crate::caps::Caps;
use crate::clifford::layer::GradeNorm;
use crate::clifford::layer::rows::{RowFunction, RowLayouts, RowProblem};
use crate::gemm::SegmentedProblem;
use crate::layout::Overflow;
use crate::layout::{DType, Layout};
use crate::ops::CastProblem;
use crate::plan::{Access, Draft, Plan, Problem, Region};
use std::borrow::Cow;

/// Bytes of what comes back through the weights at most, unless a row takes more: rows come back by so many as these hold.
const THROUGH_AT_MOST: usize = 1 << 27;

/// What matrix products are formed of, in a plan.
struct Factors<'p> {
    /// The products of what is multiplied.
    problem: Cow<'p, ConnectedProblem>,
    x: Region,
    y: Region,
    weight: Region,
    /// The plane of gates, unless there are none.
    gates: Option<Region>,
}

impl ConnectedForward {
    /// Adds the rounding of operands, and the plane of gates, of [x, y, weight].
    fn factors(&self, draft: &mut Draft<'_>, operands: [Region; 3]) -> Result<Factors<'_>> {
        let [x, y, weight] = [0, 1, 2].map(|i| self.multiplied.region(draft, operands[i]));
        let (x, y, weight) = (x?, y?, weight?);
        let problem = match self.multiplied {
            Multiplied::AsTheyAre => Cow::Borrowed(&self.product),
            Multiplied::InHalves => Cow::Owned(self.product.in_halves()?),
        };
        let gates = match self.product.gates()? {
            None => None,
            Some(gates) => {
                let [_, rows, inputs, _] = self.product.sizes();
                let plane = draft.temporary(&[1, rows, inputs], DType::F32)?;
                let at = self.product.scalar();
                let scalars = |operand: Region| Ok(operand.seen_as(operand.layout.slice(0, at..at + 1)?));
                let (x, y) = (scalars(operands[0])?, scalars(operands[1])?);
                draft.call(gates.plan(draft.caps())?, &[plane, x, y], &[])?;
                Some(plane)
            }
        };
        Ok(Factors { problem, x, y, weight, gates })
    }

    /// Adds a matrix product of what is formed of x and y, and of `b`.
    fn formed(
        &self,
        draft: &mut Draft<'_>,
        factors: &Factors<'_>,
        product: SegmentedProblem,
        [b, c]: [Region; 2],
    ) -> Result<()> {
        let operands: Vec<Region> = [factors.x, b, c, factors.y].into_iter().chain(factors.gates).collect();
        self.multiply(draft, product, &operands)
    }

    fn multiply(&self, draft: &mut Draft<'_>, product: SegmentedProblem, operands: &[Region]) -> Result<()> {
        let SegmentedProblem { problem, table } = product;
        let product = SegmentedProblem { problem: problem.pinned(self.pin), table };
        draft.call(product.plan(draft.caps())?, operands, &[])
    }

    /// Adds the product without its norm.
    fn summed(&self, draft: &mut Draft<'_>, factors: &Factors<'_>, o: Region) -> Result<()> {
        self.formed(draft, factors, factors.problem.forward()?, [factors.weight, o])
    }

    /// A temporary for the product without its norm.
    fn between(&self, draft: &mut Draft<'_>) -> Result<Region> {
        let [blades, rows, _, outputs] = self.product.sizes();
        draft.temporary(&[blades, rows, outputs], self.product.result)
    }

    /// The norm behind the product, or its gradient, of regions in the order of [`RowProblem`]'s operands.
    fn norm(&self, draft: &mut Draft<'_>, function: RowFunction, regions: &[Region]) -> Result<()> {
        let layouts =
            RowLayouts { x: &regions[1].layout, y: None, g: regions.get(2).map(|g| &g.layout), w: None };
        let ConnectedProblem { product, blades, result, .. } = &self.product;
        let problem = RowProblem::new(function, *product, blades, layouts, *result)?;
        draft.call(problem.plan(draft.caps())?, regions, &[])
    }

    fn has_norm(&self) -> bool {
        self.product.product.norm != GradeNorm::None
    }
}

impl Multiplied {
    /// A region as it is multiplied.
    fn region(self, draft: &mut Draft<'_>, operand: Region) -> Result<Region> {
        if self == Self::AsTheyAre {
            return Ok(operand);
        }
        let halves = draft.temporary(operand.layout.shape(), DType::F16)?;
        let cast = CastProblem::new(&operand.layout, operand.dtype, DType::F16, Overflow::Rust)?;
        draft.call(cast.plan(draft.caps())?, &[operand, halves], &[])?;
        Ok(halves)
    }
}

impl Problem for ConnectedForward {
    /// One matrix product, whose left operand is formed of x and y where it is staged. In front of it the plane of gates,
    /// behind it the norm, where the product has them.
    ///
    /// Operands: the result (blade, row, out), x, y, the weight.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let ConnectedProblem { operands: [x, y], weight, dtype, result, .. } = &self.product;
        let [blades, rows, _, outputs] = self.product.sizes();
        let c = Layout::contiguous(OP, &[blades, rows, outputs])?;
        let c = draft.operand("the result", *result, c, Access::Write);
        let operands = [("x", x), ("y", y), ("the weight", weight)]
            .map(|(name, layout)| draft.operand(name, *dtype, *layout, Access::Read));
        let factors = self.factors(&mut draft, operands)?;
        if self.has_norm() {
            let o = self.between(&mut draft)?;
            self.summed(&mut draft, &factors, o)?;
            self.norm(&mut draft, RowFunction::Normalize, &[c, o])?;
        } else {
            self.summed(&mut draft, &factors, c)?;
        }
        Ok(draft.finish())
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        Ok(self.plan(caps)?.because(self.reasons(&self.multiplied_problem()?.forward()?, caps)?))
    }
}

impl ConnectedForward {
    fn multiplied_problem(&self) -> Result<Cow<'_, ConnectedProblem>> {
        match self.multiplied {
            Multiplied::AsTheyAre => Ok(Cow::Borrowed(&self.product)),
            Multiplied::InHalves => self.product.in_halves().map(Cow::Owned),
        }
    }

    /// Why a matrix product is computed so and not otherwise.
    fn reasons(&self, product: &SegmentedProblem, caps: &Caps) -> Result<Vec<String>> {
        let SegmentedProblem { problem, table } = product;
        let product = SegmentedProblem { problem: problem.pinned(self.pin), table: table.clone() };
        let mut reasons = Vec::new();
        if self.multiplied == Multiplied::InHalves {
            reasons.push("operands of f32 are rounded to f16 first, a launch each".to_owned());
        }
        reasons.extend(product.explain(caps)?.reasons().iter().cloned());
        Ok(reasons)
    }
}

impl ConnectedBackward {
    /// First row and rows of each part that comes back through the weights on its own.
    fn parts_of_rows(&self, caps: &Caps) -> Result<impl Iterator<Item = [usize; 2]> + use<>> {
        let [_, rows, inputs, _] = self.forward.product.sizes();
        let allowed = usize::try_from(caps.limits.binding_bytes).unwrap_or(usize::MAX);
        let row = self.forward.product.pairs()?.len() * inputs * DType::F32.size();
        let part = (allowed.min(THROUGH_AT_MOST) / row).clamp(1, rows);
        Ok((0..rows).step_by(part).map(move |first| [first, part.min(rows - first)]))
    }
}

impl Problem for ConnectedBackward {
    /// The weight's gradient is one matrix product. Through the weights the gradient comes back in another, in parts of rows;
    /// behind each a step multiplies it by what each term has beside it. Where there is a norm, the product is computed again
    /// first.
    ///
    /// Operands: the gradients of x, y and the weight; x, y, the weight; the gradient of the result.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let (forward, mut draft) = (&self.forward, Draft::new(OP, &[], caps));
        let ConnectedProblem { operands: [x, y], weight, dtype, result, .. } = &forward.product;
        let gradient = |of: &Layout| Layout::contiguous(OP, of.shape());
        let dx = draft.operand("the gradient of x", *dtype, gradient(x)?, Access::Write);
        let dy = draft.operand("the gradient of y", *dtype, gradient(y)?, Access::Write);
        let dw = draft.operand("the gradient of the weight", DType::F32, gradient(weight)?, Access::Write);
        let operands = [("x", x), ("y", y), ("the weight", weight)]
            .map(|(name, layout)| draft.operand(name, *dtype, *layout, Access::Read));
        let mut g = draft.operand("the gradient", *result, self.g, Access::Read);
        let factors = forward.factors(&mut draft, operands)?;
        if forward.has_norm() {
            // Nothing has kept the product, so it is computed again.
            let (o, of_o) = (forward.between(&mut draft)?, forward.between(&mut draft)?);
            forward.summed(&mut draft, &factors, o)?;
            forward.norm(&mut draft, RowFunction::NormalizeBackward, &[of_o, o, g])?;
            g = of_o;
        }
        let g = forward.multiplied.region(&mut draft, g)?;
        forward.formed(&mut draft, &factors, factors.problem.of_weight(&g.layout)?, [g, dw])?;
        let pairs = forward.product.pairs()?.len();
        for [first, rows] in self.parts_of_rows(caps)? {
            let part = g.seen_as(g.layout.slice(1, first..first + rows)?);
            let through = draft.temporary(&[pairs, rows, x.shape()[2]], DType::F32)?;
            let product = factors.problem.through(&part.layout)?;
            forward.multiply(&mut draft, product, &[part, factors.weight, through])?;
            let back = ConnectedBackProblem::new(&forward.product, [first, rows])?;
            draft.call(back.plan(caps)?, &[dx, dy, through, operands[0], operands[1]], &[])?;
        }
        Ok(draft.finish())
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        let (forward, plan) = (&self.forward, self.plan(caps)?);
        let g = match (forward.multiplied, forward.has_norm()) {
            (Multiplied::AsTheyAre, false) => self.g,
            _ => Layout::contiguous(OP, self.g.shape())?,
        };
        Ok(plan.because(forward.reasons(&forward.multiplied_problem()?.of_weight(&g)?, caps)?))
    }
}
