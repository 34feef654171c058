//! The plans of a fully connected product and of its backward pass.

use super::super::pairs::pairs;
use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OP, OperandRounding};
use crate::Result;
use crate::caps::Caps;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::clifford::layer::rows::{RowFunction, RowOperandLayouts, RowProblem};
use crate::gemm::SegmentedProblem;
use crate::layout::{DType, Layout, Overflow};
use crate::ops::CastProblem;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Draft, Form, InWindows, Joins, Operand, Plan, Problem, Region};
use std::borrow::Cow;
use std::ops::Range;

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

impl ProductRegions<'_> {
    /// The operands of a product of the path sums of x and y, or of their transposes, with `b`.
    fn operands(&self, seen: fn(Region) -> Region, [b, c]: [Region; 2]) -> Vec<Region> {
        [seen(self.x), b, c, seen(self.y)].into_iter().chain(self.gates.map(seen)).collect()
    }
}

/// The same region, transposed.
fn transposed(region: Region) -> Region {
    region.with_layout(region.layout.t())
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

    /// Adds a matrix product.
    fn multiply(&self, draft: &mut Draft<'_>, product: SegmentedProblem, operands: &[Region]) -> Result<()> {
        let SegmentedProblem { problem, table } = product;
        let product = SegmentedProblem { problem: problem.pinned(self.pin), table };
        draft.call(product.plan(draft.caps())?, operands, &[])
    }

    /// Adds the product without its norm.
    fn unnormalized(&self, draft: &mut Draft<'_>, factors: &ProductRegions<'_>, o: Region) -> Result<()> {
        let operands = factors.operands(|region| region, [factors.weight, o]);
        self.multiply(draft, factors.problem.forward()?, &operands)
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

/// All axes of a product with these operands.
fn along_rows(product: &ConnectedProblem, operands: Vec<Operand>) -> CutAxes {
    CutAxes { whole: Some(2), ..CutAxes::of(&product.operands[0].shape()[1..2], operands) }
}

impl ConnectedForward {
    /// The product of these operands.
    fn of(&self, [x, y, weight]: [&Layout; 3]) -> Result<Self> {
        let ConnectedProblem { product, blades, dtype, result, .. } = &self.product;
        let part = ConnectedProblem::new(*product, blades, [x, y], weight, *dtype)?;
        Self::new(ConnectedProblem { result: *result, ..part }, self.rounding, self.pin)
    }
}

impl InWindows for ConnectedForward {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(along_rows(&self.product, [self.result()?].into_iter().chain(self.inputs()).collect()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        self.of([1, 2, 3].map(|at| &layouts[at]))
    }

    /// One matrix product. Its kernel computes the left operand, the path sums, from x and y while it stages it in
    /// shared memory. A step before it computes the gates and a step after it applies the norm, if the product has
    /// them.
    ///
    /// Operands: the result (blade, row, out), x, y, the weight.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
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

    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        self.product_reasons(&self.rounded_product()?.forward()?, caps)
    }
}

impl InWindows for ConnectedBackward {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        let operands = self.gradients().into_iter().chain(self.forward.inputs()).chain([self.gradient()]);
        Ok(along_rows(&self.forward.product, operands.collect()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.forward.of([3, 4, 5].map(|at| &layouts[at]))?, &layouts[6])
    }

    /// One matrix product computes the gradient of the weight. For each chunk of rows, another computes the gradients
    /// of the path sums, and a step after it computes the gradients of x and y from them. If the product has a norm,
    /// the plan first computes the product again and the backward pass of the norm.
    ///
    /// Operands: the gradients of x, y and the weight; x, y, the weight; the gradient of the result.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
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
        let product = factors.problem.weight_gradient(&g.layout)?;
        forward.multiply(&mut draft, product, &factors.operands(transposed, [g, dw]))?;
        let pairs = pairs(&forward.product.blades)?.len();
        for [first, rows] in self.chunks(caps)? {
            let chunk = g.with_layout(g.layout.slice(1, first..first + rows)?);
            let path_gradients =
                draft.temporary(&[pairs, rows, forward.product.operands[0].shape()[2]], DType::F32)?;
            let product = factors.problem.path_gradients(&chunk.layout)?;
            forward.multiply(&mut draft, product, &[chunk, transposed(factors.weight), path_gradients])?;
            let gradients = forward.product.operand_gradients([first, rows])?;
            draft.call(gradients.plan(caps)?, &[dx, dy, path_gradients, operands[0], operands[1]], &[])?;
        }
        Ok(draft.finish())
    }

    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        let forward = &self.forward;
        let g = match (forward.rounding, forward.has_norm()) {
            (OperandRounding::None, false) => self.g,
            _ => Layout::contiguous(OP, self.g.shape())?,
        };
        forward.product_reasons(&forward.rounded_product()?.weight_gradient(&g)?, caps)
    }
}

impl ConnectedForward {
    /// The operands that a product reads: x and y (blade, row, feature), and the weight.
    pub(super) fn inputs(&self) -> [Operand; 3] {
        let ConnectedProblem { operands: [x, y], weight, dtype, .. } = &self.product;
        let read = |name, layout: &Layout| Operand::read(name, *dtype, *layout);
        [read("x", x).along([Some(1)]), read("y", y).along([Some(1)]), read("the weight", weight).whole()]
    }

    /// The result.
    pub(super) fn result(&self) -> Result<Operand> {
        let [blades, rows, _, outputs] = self.product.sizes();
        let result = Layout::contiguous(OP, &[blades, rows, outputs])?;
        Ok(Operand::written("the result", self.product.result, result).along([Some(1)]))
    }
}

impl ConnectedBackward {
    /// The gradients of x, y and the weight.
    pub(super) fn gradients(&self) -> [Operand; 3] {
        let ConnectedProblem { operands: [x, y], weight, dtype, .. } = &self.forward.product;
        let of_rows = |name, of: &Layout| Operand::written(name, *dtype, of.dense()).along([Some(1)]);
        let of_weight = Operand::written("the gradient of the weight", DType::F32, weight.dense());
        [
            of_rows("the gradient of x", x),
            of_rows("the gradient of y", y),
            of_weight.in_form(Form::Sum).whole(),
        ]
    }

    /// The gradient of the result.
    pub(super) fn gradient(&self) -> Operand {
        Operand::read("the gradient", self.forward.product.result, self.g).along([Some(1)])
    }
}
