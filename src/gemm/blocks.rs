//! The steps of a product that is cut into panels: operands are bound by windows, without copies.

use super::epilogue::Epilogue;
use super::layouts::Layouts;
use super::panels::Panels;
use super::problem::{GemmProblem, OP, Split};
use super::reduce;
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout, dim};
use crate::plan::{Draft, MAX_STEP_SECONDS, Region};

impl GemmProblem {
    /// The product without its epilogue, of this type.
    pub(super) fn plain(&self, c: DType) -> Self {
        let mut plain = *self;
        (plain.epilogue, plain.types.c) = (Epilogue::default(), c);
        plain
    }

    /// The product of the first panel.
    pub(super) fn first_panel(&self, panels: &Panels) -> Result<Self> {
        let layouts = self.layouts()?;
        let (Some(block), steps) = (panels.blocks().next(), panels.steps()) else { return Ok(*self) };
        let first = block.of(&layouts, &self.dims, &steps[0])?;
        if steps.len() == 1 {
            return self.on(&first, self.types.ab);
        }
        self.of_step(&first, Layout::contiguous(OP, first.c.shape())?)
    }

    /// The product of one of several panels along k, whose operands lie so, and its sums as `c` says.
    fn of_step(&self, layouts: &Layouts, c: Layout) -> Result<Self> {
        let step = Self { split: Split::Parts(1), ..self.plain(self.type_of_sums()) };
        step.on(&Layouts { c, bias: None, residual: None, ..*layouts }, self.types.ab)
    }

    /// The same product, which is not to be split any further; but where a workgroup would keep the device for too long.
    fn unless_too_long(self, caps: &Caps) -> Result<Self> {
        // Of a product of f16 parts, what is chosen is the kernel of these.
        let product = if self.is_in_halves() { self.in_halves()?.last } else { self };
        let (tile, parts) = product.choose(caps)?;
        let is_too_long = tile.block_seconds(&product, parts, caps) > MAX_STEP_SECONDS;
        Ok(if is_too_long { Self { split: Split::Free, ..self } } else { self })
    }

    fn type_of_sums(&self) -> DType {
        if self.types.ab.is_real() { DType::F32 } else { DType::I32 }
    }

    /// Adds the steps of all panels. If k is cut as well, each panel has sums of its own, which a last step of its block adds up.
    pub(super) fn in_panels(
        &self,
        draft: &mut Draft<'_>,
        panels: &Panels,
        operands: &[Region],
    ) -> Result<()> {
        let (layouts, steps) = (self.layouts()?, panels.steps());
        for block in panels.blocks() {
            let whole = block.of(&layouts, &self.dims, &steps[0])?;
            let problem = self.on(&whole, self.types.ab)?;
            let regions = seen_as(operands, &whole);
            if steps.len() == 1 {
                problem.whole(draft, &regions)?;
                continue;
            }
            let shape = whole.c.shape();
            let sums = draft.temporary(&[&[steps.len()], shape].concat(), self.type_of_sums())?;
            for (i, step) in steps.iter().enumerate() {
                let panel = block.of(&layouts, &self.dims, step)?;
                let part = sums.layout.slice(0, i..i + 1)?.reshape(shape)?;
                let [a, b] = [operands[0].seen_as(panel.a), operands[1].seen_as(panel.b)];
                let step = problem.of_step(&panel, part)?.unless_too_long(draft.caps())?;
                step.alone(draft, &[a, b, sums.seen_as(part)])?;
            }
            let parts = dim(OP, steps.len())?;
            reduce::step(draft, &problem, parts, [sums, regions[2]], &regions[3..])?;
        }
        Ok(())
    }

    /// Adds the steps of a product that is only a part of the whole, and so has an alpha of 1.
    pub(super) fn alone(&self, draft: &mut Draft<'_>, operands: &[Region]) -> Result<()> {
        let mut part = Draft::new(OP, &[], draft.caps());
        let own = self.operands()?;
        let own: Vec<Region> =
            own.into_iter().map(|own| part.operand(own.name, own.dtype, own.layout, own.access)).collect();
        self.whole(&mut part, &own)?;
        draft.call(part.finish(), operands, &[])
    }
}

/// A product's operands, narrowed.
fn seen_as(operands: &[Region], layouts: &Layouts) -> Vec<Region> {
    let Layouts { a, b, c, bias, residual } = layouts;
    let narrowed = [Some(a), Some(b), Some(c), bias.as_ref(), residual.as_ref()].into_iter().flatten();
    operands.iter().zip(narrowed).map(|(operand, layout)| operand.seen_as(*layout)).collect()
}
