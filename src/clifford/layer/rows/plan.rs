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
    self, CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Operand, Plan, Problem, Region,
};
use crate::{Error, Result};
use std::ops::Range;

/// The regions of a plan, by the names of the kernel's operands.
struct Buffers {
    c: Region,
    x: Region,
    y: Option<Region>,
    g: Option<Region>,
    w: Option<Region>,
    /// The gradient of Y.
    d: Option<Region>,
    /// Partial sums of the weight gradients.
    slab: Option<Region>,
    /// Sums of rows, which the first of two steps passes to the second.
    sums: Option<Region>,
    /// The product before its norm, which the first of two steps passes to the second.
    o: Option<Region>,
}

impl Buffers {
    fn of(&self, operand: RowOperand, step: RowStep) -> Option<Region> {
        match (operand, step) {
            (RowOperand::C, RowStep::Sums) => self.o,
            (RowOperand::C, _) => Some(self.c),
            (RowOperand::X, RowStep::Results) => self.o.or(Some(self.x)),
            (RowOperand::X, _) => Some(self.x),
            (RowOperand::Y, _) => self.y,
            (RowOperand::G, _) => self.g,
            (RowOperand::W, _) => self.w,
            (RowOperand::D, _) => self.d,
            (RowOperand::Slab, _) => self.slab,
            (RowOperand::Sums, _) => self.sums,
        }
    }
}

impl RowProblem {
    /// The operands, and the gradient of the weights.
    fn buffers(&self, draft: &mut Draft<'_>) -> Result<(Buffers, Option<Region>)> {
        let [c, d, gradient, x, y, g, w] = draft.regions(self.listed()?);
        let (Some(c), Some(x)) = (c, x) else {
            return Err(Error::device("a function of rows has a result and an operand"));
        };
        Ok((Buffers { c, x, y, g, w, d, slab: None, sums: None, o: None }, gradient))
    }

    /// Adds a step of this problem. The sums of each row are in `parts` parts, which the step adds.
    fn add_to(&self, draft: &mut Draft<'_>, tile: &RowTile, parts: u32, buffers: &Buffers) -> Result<()> {
        let (op, caps) = (self.function.name(), draft.caps());
        let names = operands(self);
        let mut args = Vec::with_capacity(names.len());
        for &name in &names {
            let region = buffers.of(name, self.step);
            let region = region
                .ok_or_else(|| Error::device(format!("{op}: the operand {} is missing", name.name())))?;
            let access = if name.is_written(self) { plan::Access::Write } else { plan::Access::Read };
            args.push((region, access));
        }
        let code = row_code(self, tile, caps)?;
        let flops = code.flops as f64 * f64::from(self.dims.plane);
        let RowTile { width, units, lanes, part, blocks, iterations, .. } = *tile;
        let of_row =
            if blocks == 1 { String::from("a row") } else { format!("one of {blocks} parts of a row") };
        draft.step(NewStep {
tile: format!(
                "{lanes} invocations, {part} for {of_row}; each: rows {iterations}, units {units}, vector width {width}; {}",
                self.description()
            ),
blocks: u64::from(tile.strips) * u64::from(blocks),
dims: Dims::of(&RowDims { parts, ..tile.dims(self) }),
flops: Flops::of_f32(flops),
..NewStep::of(self.kernel(tile, code, caps), Needs::of(lanes, tile.workgroup_bytes(self, caps)), &args)
})
    }
}

impl RowProblem {
    /// The result; in the backward pass of a product, the gradients of y and of the weights; x, y, the gradient of the result and
    /// the weights. (blade, row, feature) are cut along rows.
    pub(super) fn listed(&self) -> Result<[Option<Operand>; 7]> {
        let result = Layout::contiguous(self.function.name(), &self.shape())?;
        let written = |name| Operand::written(name, self.out, result).along([Some(1)]);
        let read = |name, places: &[u32; 4]| {
            self.layout(places).map(|layout| Operand::read(name, self.dtype, layout).along([Some(1)]))
        };
        let (is_product, is_backward) = (self.function.is_product(), self.function.is_backward());
        let weights = if is_product { Some(self.weights()?) } else { None };
        let gradient = |weights: Layout| {
            let sum = Operand::written("the gradient of the weights", DType::F32, weights.dense());
            sum.in_form(Form::Sum).whole()
        };
        let has_gradients = self.function == RowFunction::SteerableBackward;
        Ok([
            Some(written("the result")),
            has_gradients.then(|| written("the gradient of y")),
            weights.filter(|_| has_gradients).map(gradient),
            Some(read("x", &self.dims.x)?),
            if is_product { Some(read("y", &self.dims.y)?) } else { None },
            if is_backward { Some(read("the gradient", &self.dims.g)?) } else { None },
            weights.map(|weights| Operand::read("the weights", self.dtype, weights).whole()),
        ])
    }

    /// Blades, rows and features.
    pub(super) fn shape(&self) -> [usize; 3] {
        [self.blade_count(), self.dims.rows as usize, self.dims.features as usize]
    }

    /// The layout of an operand (blade, row, feature).
    pub(super) fn layout(&self, places: &[u32; 4]) -> Result<Layout> {
        let places = places.map(|place| place as usize);
        Layout::new(self.function.name(), &self.shape(), &places[..3], places[3], usize::MAX)
    }

    /// The layout of the weights (feature, path).
    pub(super) fn weights(&self) -> Result<Layout> {
        let shape = [self.dims.features as usize, self.signature().path_count()];
        let [path, feature, offset, _] = self.dims.w.map(|place| place as usize);
        Layout::new(self.function.name(), &shape, &[feature, path], offset, usize::MAX)
    }
}

impl InWindows for RowProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes {
            whole: Some(2),
            ..CutAxes::of(&self.shape()[1..2], self.listed()?.into_iter().flatten())
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
        let (mut buffers, weight_gradient) = self.buffers(&mut draft)?;
        let tile = RowTile::of(self, caps);
        let is_one_launch = self.is_one_launch(&tile);
        let last = if is_one_launch { self.clone() } else { self.after_sums() };
        if let Some(weight_gradient) = weight_gradient {
            let [_, _, features] = shape;
            let slots = RowTile::of(&last, caps).slots() as usize;
            buffers.slab = Some(match slots {
                1 => weight_gradient,
                _ => draft.temporary(&[slots, features, self.signature().path_count()], DType::F32)?,
            });
        }
        if is_one_launch {
            self.add_to(&mut draft, &tile, 1, &buffers)?;
        } else {
            let first = self.step(RowStep::Sums);
            let tile = RowTile::of(&first, caps);
            let sums = [self.sums(), shape[1], tile.blocks as usize];
            buffers.sums = Some(draft.temporary(&sums, DType::F32)?);
            if self.function == RowFunction::Steerable {
                buffers.o = Some(draft.temporary(&shape, DType::F32)?);
            }
            draft.reason(
                "a row is too long for a workgroup: one launch for its sums, one for the result".to_owned(),
            );
            first.add_to(&mut draft, &tile, tile.blocks, &buffers)?;
            last.add_to(&mut draft, &RowTile::of(&last, caps), tile.blocks, &buffers)?;
        }
        if let (Some(weight_gradient), Some(slab)) = (weight_gradient, buffers.slab)
            && slab.layout.rank() == 3
        {
            let sum = ReduceProblem::new(ReduceFunction::Sum, &slab.layout, &[0], DType::F32)?;
            draft.call(sum.plan(caps)?, &[slab, weight_gradient], &[])?;
        }
        Ok(draft.finish())
    }
}
