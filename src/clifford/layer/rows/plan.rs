//! The plan of a function of rows: one launch if a row fits a workgroup, otherwise two.

use super::operands::{RowOperand, operands};
use super::problem::{RowDims, RowFunction, RowProblem, RowStep};
use super::tile::RowTile;
use super::writer::row_code;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::DType;
use crate::ops::{ReduceFunction, ReduceProblem};
use crate::plan::{self, Dims, Draft, Flops, NewStep, Plan, Problem, Region};
use crate::{Error, Result};

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
    /// The plan, if every operand fits into a binding.
    pub(super) fn of_one(&self, caps: &Caps) -> Result<Plan> {
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
