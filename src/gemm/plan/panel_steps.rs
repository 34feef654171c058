//! The steps of a product that is cut into panels: they bind windows of the operands, without copies.

use super::panels::Panels;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::kernels;
use crate::gemm::problem::{GemmProblem, Layouts, OP, SplitK};
use crate::layout::{Layout, dim};
use crate::plan::{Draft, MAX_STEP_SECONDS, Region};

impl GemmProblem {
    /// The product of the first panel.
    pub(super) fn first_panel(&self, panels: &Panels) -> Result<Self> {
        let layouts = self.layouts.layouts();
        let (Some(block), ranges) = (panels.blocks().next(), panels.ranges_of_k()) else { return Ok(*self) };
        let first = block.of(&layouts, &ranges[0])?;
        if ranges.len() == 1 {
            return self.with_operands(&first, self.types.ab);
        }
        self.k_panel(&first, first.c.dense())
    }

    /// The product of one of several panels along k, with operands of these layouts and sums stored in `c`.
    fn k_panel(&self, layouts: &Layouts<Layout>, c: Layout) -> Result<Self> {
        let panel = Self { split: SplitK::Splits(1), ..self.without_epilogue(self.type_of_sums()) };
        panel.with_operands(&Layouts { c, extras: [None; 4], ..*layouts }, self.types.ab)
    }

    /// The same product, which allows split-k only if a workgroup would otherwise keep the device busy for too long.
    fn split_if_too_long(self, caps: &Caps) -> Result<Self> {
        // With an f16 split, the choice is that of the last product.
        let product = if self.is_f16_split() { self.f16_products()?.last } else { self };
        let (tile, splits) = product.choose(caps)?;
        let is_too_long = tile.block_seconds(&product, splits, caps) > MAX_STEP_SECONDS;
        Ok(if is_too_long { Self { split: SplitK::Auto, ..self } } else { self })
    }

    /// Adds the steps of all panels. If k is cut too, each panel stores its own sums, and the last step of each block of C
    /// adds them.
    pub(super) fn panel_steps(
        &self,
        draft: &mut Draft<'_>,
        panels: &Panels,
        operands: &[Region],
    ) -> Result<()> {
        let (layouts, ranges) = (self.layouts.layouts(), panels.ranges_of_k());
        for block in panels.blocks() {
            let whole = block.of(&layouts, &ranges[0])?;
            let problem = self.with_operands(&whole, self.types.ab)?;
            let regions = with_layout(operands, &whole);
            if ranges.len() == 1 {
                problem.add_steps(draft, &regions)?;
                continue;
            }
            let shape = whole.c.shape();
            let sums = draft.temporary(&[&[ranges.len()], shape].concat(), self.type_of_sums())?;
            for (i, range) in ranges.iter().enumerate() {
                let panel = block.of(&layouts, range)?;
                let own = sums.layout.slice(0, i..i + 1)?.reshape(shape)?;
                let [a, b] = [operands[0].with_layout(panel.a), operands[1].with_layout(panel.b)];
                let product = problem.k_panel(&panel, own)?.split_if_too_long(draft.caps())?;
                product.add_inner_steps(draft, &[a, b, sums.with_layout(own)])?;
            }
            let panels_of_k = dim(OP, ranges.len())?;
            kernels::step(draft, &problem, panels_of_k, [sums, regions[2]], &regions[3..])?;
        }
        Ok(())
    }
}

/// The operands of a product, narrowed to these layouts.
fn with_layout(operands: &[Region], layouts: &Layouts<Layout>) -> Vec<Region> {
    let Layouts { a, b, c, extras } = layouts;
    let narrowed = [a, b, c].into_iter().chain(extras.iter().flatten());
    operands.iter().zip(narrowed).map(|(operand, layout)| operand.with_layout(*layout)).collect()
}
