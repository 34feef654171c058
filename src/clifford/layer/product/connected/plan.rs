//! The plans of a fully connected product and of its backward pass.

use super::super::pairs::pairs;
use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OP, OperandRounding};
use crate::Result;
use crate::caps::Caps;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::clifford::layer::rows::{RowFunction, RowOperandLayouts, RowProblem};
use crate::gemm::SegmentedProblem;
use crate::layout::{DType, Overflow};
use crate::ops::CastProblem;
use crate::plan::{Draft, Plan, Problem, Region};
use std::borrow::Cow;

/// Limit of scratch memory for the gradients of the path sums, in bytes. The backward pass processes rows in chunks of
/// this size, or one by one if a row needs more.
const MAX_PATH_GRADIENTS_BYTES: usize = 1 << 27;

/// The regions that a plan's matrix products read.
struct ProductRegions<'p> {
    /// The product of the regions. Its operands may be rounded.
    problem: Cow<'p, ConnectedProblem>,
    x: Region,
    y: Region,
    weight: Region,
    /// The gates of both operands, if the product has gates.
    gates: Option<Region>,
}

impl ConnectedForward {
    /// Adds the steps that round x, y and the weight and that compute the gates.
    fn factors(&self, draft: &mut Draft<'_>, operands: [Region; 3]) -> Result<ProductRegions<'_>> {
        let [x, y, weight] = [0, 1, 2].map(|i| self.rounding.rounded(draft, operands[i]));
        let (x, y, weight) = (x?, y?, weight?);
        let problem = self.rounded_product()?;
        let gates = match self.product.gates()? {
            None => None,
            Some(gates) => {
                let [_, rows, inputs, _] = self.product.sizes();
                let plane = draft.temporary(&[1, rows, inputs], DType::F32)?;
                let at = self.product.scalar();
                let scalars = |operand: Region| Ok(operand.with_layout(operand.layout.slice(0, at..at + 1)?));
                let (x, y) = (scalars(operands[0])?, scalars(operands[1])?);
                draft.call(gates.plan(draft.caps())?, &[plane, x, y], &[])?;
                Some(plane)
            }
        };
        Ok(ProductRegions { problem, x, y, weight, gates })
    }

    /// Adds a matrix product of the path sums of x and y with `b`.
    fn multiply_path_sums(
        &self,
        draft: &mut Draft<'_>,
        factors: &ProductRegions<'_>,
        product: SegmentedProblem,
        [b, c]: [Region; 2],
    ) -> Result<()> {
        let operands: Vec<Region> = [factors.x, b, c, factors.y].into_iter().chain(factors.gates).collect();
        self.multiply(draft, product, &operands)
    }

    /// Adds a matrix product.
    fn multiply(&self, draft: &mut Draft<'_>, product: SegmentedProblem, operands: &[Region]) -> Result<()> {
        let SegmentedProblem { problem, table } = product;
        let product = SegmentedProblem { problem: problem.pinned(self.pin), table };
        draft.call(product.plan(draft.caps())?, operands, &[])
    }

    /// Adds the product without its norm.
    fn unnormalized(&self, draft: &mut Draft<'_>, factors: &ProductRegions<'_>, o: Region) -> Result<()> {
        self.multiply_path_sums(draft, factors, factors.problem.forward()?, [factors.weight, o])
    }

    /// A temporary for the product without its norm.
    fn unnormalized_region(&self, draft: &mut Draft<'_>) -> Result<Region> {
        let [blades, rows, _, outputs] = self.product.sizes();
        draft.temporary(&[blades, rows, outputs], self.product.result)
    }

    /// Adds the norm of the product or its backward pass. `regions` are the operands of the [`RowProblem`], in its
    /// order.
    fn norm(&self, draft: &mut Draft<'_>, function: RowFunction, regions: &[Region]) -> Result<()> {
        let layouts = RowOperandLayouts {
            x: &regions[1].layout,
            y: None,
            g: regions.get(2).map(|g| &g.layout),
            w: None,
        };
        let ConnectedProblem { product, blades, result, .. } = &self.product;
        let problem = RowProblem::new(function, *product, blades, layouts, *result)?;
        draft.call(problem.plan(draft.caps())?, regions, &[])
    }

    pub(super) fn has_norm(&self) -> bool {
        self.product.product.norm != GradeNorm::None
    }
}

impl OperandRounding {
    /// Adds the step that rounds an operand, if there is rounding, and returns the region to multiply.
    fn rounded(self, draft: &mut Draft<'_>, operand: Region) -> Result<Region> {
        if self == Self::None {
            return Ok(operand);
        }
        let rounded = draft.temporary(operand.layout.shape(), DType::F16)?;
        let cast = CastProblem::new(&operand.layout, operand.dtype, DType::F16, Overflow::Rust)?;
        draft.call(cast.plan(draft.caps())?, &[operand, rounded], &[])?;
        Ok(rounded)
    }
}

impl ConnectedForward {
    /// The plan, if every operand fits into a binding.
    pub(super) fn of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let c = draft.region(&self.result()?);
        let operands = self.inputs().map(|of| draft.region(&of));
        let factors = self.factors(&mut draft, operands)?;
        if self.has_norm() {
            let o = self.unnormalized_region(&mut draft)?;
            self.unnormalized(&mut draft, &factors, o)?;
            self.norm(&mut draft, RowFunction::Normalize, &[c, o])?;
        } else {
            self.unnormalized(&mut draft, &factors, c)?;
        }
        Ok(draft.finish())
    }

    /// The product of the operands after rounding.
    pub(super) fn rounded_product(&self) -> Result<Cow<'_, ConnectedProblem>> {
        match self.rounding {
            OperandRounding::None => Ok(Cow::Borrowed(&self.product)),
            OperandRounding::F16 => self.product.rounded_to_f16().map(Cow::Owned),
        }
    }

    /// The reasons for the choice of a matrix product's kernel.
    pub(super) fn product_reasons(&self, product: &SegmentedProblem, caps: &Caps) -> Result<Vec<String>> {
        let SegmentedProblem { problem, table } = product;
        let product = SegmentedProblem { problem: problem.pinned(self.pin), table: table.clone() };
        let mut reasons = Vec::new();
        if self.rounding == OperandRounding::F16 {
            reasons.push("f32 operands are rounded to f16 first, in one launch each".to_owned());
        }
        reasons.extend(product.explain(caps)?.reasons().iter().cloned());
        Ok(reasons)
    }
}

impl ConnectedBackward {
    /// The chunks of rows that the backward pass processes in turn: the first row and the number of rows of each.
    fn chunks(&self, caps: &Caps) -> Result<impl Iterator<Item = [usize; 2]> + use<>> {
        let [_, rows, inputs, _] = self.forward.product.sizes();
        let allowed = usize::try_from(caps.limits.binding_bytes).unwrap_or(usize::MAX);
        let row = pairs(&self.forward.product.blades)?.len() * inputs * DType::F32.size();
        let chunk = (allowed.min(MAX_PATH_GRADIENTS_BYTES) / row).clamp(1, rows);
        Ok((0..rows).step_by(chunk).map(move |first| [first, chunk.min(rows - first)]))
    }
}

impl ConnectedBackward {
    /// The plan, if every operand fits into a binding.
    pub(super) fn of_one(&self, caps: &Caps) -> Result<Plan> {
        let (forward, mut draft) = (&self.forward, Draft::new(OP, &[], caps));
        let [dx, dy, dw] = self.gradients().map(|of| draft.region(&of));
        let operands = forward.inputs().map(|of| draft.region(&of));
        let mut g = draft.region(&self.gradient());
        let factors = forward.factors(&mut draft, operands)?;
        if forward.has_norm() {
            // The forward pass does not store the product, so it is computed again.
            let (o, do_) =
                (forward.unnormalized_region(&mut draft)?, forward.unnormalized_region(&mut draft)?);
            forward.unnormalized(&mut draft, &factors, o)?;
            forward.norm(&mut draft, RowFunction::NormalizeBackward, &[do_, o, g])?;
            g = do_;
        }
        let g = forward.rounding.rounded(&mut draft, g)?;
        forward.multiply_path_sums(
            &mut draft,
            &factors,
            factors.problem.weight_gradient(&g.layout)?,
            [g, dw],
        )?;
        let pairs = pairs(&forward.product.blades)?.len();
        for [first, rows] in self.chunks(caps)? {
            let chunk = g.with_layout(g.layout.slice(1, first..first + rows)?);
            let path_gradients =
                draft.temporary(&[pairs, rows, forward.product.operands[0].shape()[2]], DType::F32)?;
            let product = factors.problem.path_gradients(&chunk.layout)?;
            forward.multiply(&mut draft, product, &[chunk, factors.weight, path_gradients])?;
            let gradients = forward.product.operand_gradients([first, rows])?;
            draft.call(gradients.plan(caps)?, &[dx, dy, path_gradients, operands[0], operands[1]], &[])?;
        }
        Ok(draft.finish())
    }
}
