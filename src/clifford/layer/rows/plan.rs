//! The plan of a function of rows: one launch if a row fits a workgroup, otherwise two.

use super::operands::{RowOperand, operands};
use super::problem::{RowDims, RowFunction, RowOperandLayouts, RowProblem, RowStep};
use super::tile::RowTile;
use super::writer::row_code;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::ops::{ReduceFunction, ReduceProblem};
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Operand, Plan, Problem, Region,
};
use crate::{Error, Result};
use std::ops::Range;

impl RowProblem {
    /// Adds a step of this problem. Of `buffers` of the same name, it takes the last. The sums of each row are in `parts` parts,
    /// which the step adds.
    fn add_to(
        &self,
        draft: &mut Draft<'_>,
        tile: &RowTile,
        parts: u32,
        buffers: &[(RowOperand, Region)],
    ) -> Result<()> {
        let (op, caps) = (self.function.name(), draft.caps());
        let arg = |name: RowOperand| {
            let (_, region) = buffers
                .iter()
                .rfind(|(known, _)| *known == name)
                .ok_or_else(|| Error::device(format!("{op}: the operand {} is missing", name.name())))?;
            Ok((*region, if name.is_written(self) { Access::Write } else { Access::Read }))
        };
        let args = operands(self).into_iter().map(arg).collect::<Result<Vec<_>>>()?;
        let code = row_code(self, tile, caps)?;
        let dims = RowDims { parts, ..tile.dims(self) };
        let RowTile { width, units, lanes, part, blocks, iterations, .. } = *tile;
        let of_row =
            if blocks == 1 { String::from("a row") } else { format!("one of {blocks} parts of a row") };
        let of_each = format!("rows {iterations}, units {units}, vector width {width}");
        let tile_words =
            format!("{lanes} invocations, {part} for {of_row}; each: {of_each}; {}", self.description());
        let flops = Flops::of_f32(code.flops as f64 * f64::from(dims.plane));
        let needs = Needs::of(lanes, tile.workgroup_bytes(self, caps));
        draft.step(NewStep {
            tile: tile_words,
            blocks: u64::from(tile.strips) * u64::from(blocks),
            dims: Dims::of(&dims),
            flops,
            ..NewStep::of(self.kernel(tile, code, caps), needs, &args)
        })
    }
}

impl RowProblem {
    /// The result; in the backward pass of a product, the gradients of y and of the weights; x, y, the gradient of the result and
    /// the weights. (blade, row, feature) are cut along rows.
    fn listed(&self) -> [Option<Operand>; 7] {
        let along = |of: Operand| of.along([Some(1)]);
        let written = |name| along(Operand::written(name, self.out, self.x.dense()));
        let read = |name, of: Layout| Operand::read(name, self.dtype, of);
        let (is_product, is_backward) = (self.function.is_product(), self.function.is_backward());
        let weights = self.w.filter(|_| is_product);
        let gradient = |weights: Layout| {
            let sum = Operand::written("the gradient of the weights", DType::F32, weights.dense());
            sum.in_form(Form::Sum).whole()
        };
        let has_gradients = self.function == RowFunction::SteerableBackward;
        [
            Some(written("the result")),
            has_gradients.then(|| written("the gradient of y")),
            weights.filter(|_| has_gradients).map(gradient),
            Some(along(read("x", self.x))),
            self.y.filter(|_| is_product).map(|y| along(read("y", y))),
            self.g.filter(|_| is_backward).map(|g| along(read("the gradient", g))),
            weights.map(|weights| read("the weights", weights).whole()),
        ]
    }
}

impl InWindows for RowProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes {
            whole: Some(2),
            ..CutAxes::of(&self.shape()[1..2], self.listed().into_iter().flatten())
        })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let results = if self.function == RowFunction::SteerableBackward { 3 } else { 1 };
        let mut operands = layouts[results..].iter();
        let (is_product, is_backward) = (self.function.is_product(), self.function.is_backward());
        let mut next = |is_there: bool| if is_there { operands.next() } else { None };
        let (x, y) = (next(true).unwrap_or(&layouts[0]), next(is_product));
        let layouts = RowOperandLayouts { x, y, g: next(is_backward), w: next(is_product) };
        let part = Self::new(self.function, self.product, &self.blades, layouts, self.dtype)?;
        Ok(Self { step: self.step, out: self.out, ..part })
    }

    /// One step if a row fits a workgroup, otherwise two: the sums of rows, then the result. With windows, each window has these
    /// steps. Each workgroup sums the gradient of the weights over its rows. If there are several such sums, a last step adds them
    /// in a fixed order.
    ///
    /// Operands: the result, or in a backward pass the gradient of x; in the backward pass of a product, the gradients
    /// of y and of the weights; x; for a product, y; in a backward pass, the gradient of the result; for a product, the
    /// weights.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let (op, shape) = (self.function.name(), self.shape());
        if shape.contains(&0) {
            return Err(Error::shape(op, "there must be at least one row and one feature", &shape));
        }
        let mut draft = Draft::new(op, &[], caps);
        let [c, d, weight_gradient, x, y, g, w] = draft.regions(self.listed());
        let names =
            [RowOperand::C, RowOperand::D, RowOperand::X, RowOperand::Y, RowOperand::G, RowOperand::W];
        let named = names.into_iter().zip([c, d, x, y, g, w]);
        let mut buffers: Vec<_> = named.filter_map(|(name, region)| Some((name, region?))).collect();
        let tile = RowTile::of(self, caps);
        let is_one_launch = self.is_one_launch(&tile);
        let last = if is_one_launch { self.clone() } else { self.after_sums() };
        let slab = match (weight_gradient, RowTile::of(&last, caps).slots() as usize) {
            (None, _) => None,
            (gradient, 1) => gradient,
            (_, slots) => {
                Some(draft.temporary(&[slots, shape[2], self.signature().path_count()], DType::F32)?)
            }
        };
        buffers.extend(slab.map(|slab| (RowOperand::Slab, slab)));
        if is_one_launch {
            self.add_to(&mut draft, &tile, 1, &buffers)?;
        } else {
            let first = self.step(RowStep::Sums);
            let tile = RowTile::of(&first, caps);
            let sums = [self.sums(), shape[1], tile.blocks as usize];
            buffers.push((RowOperand::Sums, draft.temporary(&sums, DType::F32)?));
            // The first step of a product passes it to the second, which divides it by its norm.
            let is_passed = self.function == RowFunction::Steerable;
            let between = if is_passed { Some(draft.temporary(&shape, DType::F32)?) } else { None };
            let with = |name| {
                buffers.iter().copied().chain(between.map(|region| (name, region))).collect::<Vec<_>>()
            };
            draft.reason(
                "a row is too long for a workgroup: one launch for its sums, one for the result".to_owned(),
            );
            first.add_to(&mut draft, &tile, tile.blocks, &with(RowOperand::C))?;
            last.add_to(&mut draft, &RowTile::of(&last, caps), tile.blocks, &with(RowOperand::X))?;
        }
        if let (Some(weight_gradient), Some(slab)) = (weight_gradient, slab)
            && slab.layout.rank() == 3
        {
            let sum = ReduceProblem::new(ReduceFunction::Sum, &slab.layout, &[0], DType::F32)?;
            draft.call(sum.plan(caps)?, &[slab, weight_gradient], &[])?;
        }
        Ok(draft.finish())
    }
}
