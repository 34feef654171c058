//! The plan of a sparse operator.

use super::kernel::SparseTile;
use super::problem::{SparseDims, SparseMethod, SparseProblem};
use crate::Result;
use crate::caps::Caps;
use crate::gemm::{SeedSource, reduce_splits};
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, PHILOX, Plan, Region};
use crate::sketch::operator::{OP, SCALE, Sketch};
use std::mem::offset_of;
use std::ops::Range;

impl InWindows for SparseProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        self.operand.cut_axes()
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let part = Self { operand: self.operand.window(&layouts[0]), ..*self };
        part.dims().map(|_| part)
    }

    /// One step, or one for each window; if the lines are split, a second step adds the partial sums.
    ///
    /// Operands: x, the result, the seed if a tensor holds it. Scalars: the seed if no tensor holds it, and the scale.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &Sketch::scalars(self.operand.seed), caps);
        let (operands, seed) = self.operand.operands()?;
        let [x, y] = operands.map(|of| draft.region(&of));
        let seed = seed.map(|of| draft.region(&of));
        let dims = self.dims()?;
        let tile = SparseTile::of(self, &dims, caps);
        if tile.splits == 1 {
            self.step(&mut draft, (&tile, &dims), [x, y], seed)?;
            return Ok(draft.finish());
        }
        let elements = usize::try_from(self.elements()).unwrap_or(usize::MAX);
        let sums = draft.temporary(&[elements.saturating_mul(tile.splits as usize)], DType::F32)?;
        self.step(&mut draft, (&tile, &dims), [x, sums], seed)?;
        let elements = self.rows()[1] * dims.columns;
        reduce_splits(&mut draft, [elements, tile.splits], SCALE, [sums, y])?;
        Ok(draft.finish())
    }
}

impl SparseProblem {
    fn step(
        &self,
        draft: &mut Draft<'_>,
        (tile, d): (&SparseTile, &SparseDims),
        [x, to]: [Region; 2],
        seed: Option<Region>,
    ) -> Result<()> {
        let (caps, dims) = (draft.caps(), tile.dims(self, d));
        let [tiles, ranges] =
            [(d.columns, tile.width), (self.rows()[1], tile.rows)].map(|(n, of)| u64::from(n.div_ceil(of)));
        let seed_at = [offset_of!(SparseDims, seed_low), offset_of!(SparseDims, seed_high)];
        let uniform = SeedSource::put(Dims::of(&dims), seed_at, draft);
        // Partial sums are scaled when they are added.
        let uniform = match tile.splits {
            1 => draft.put(uniform, SCALE, offset_of!(SparseDims, scale)),
            _ => uniform,
        };
        let args: Vec<(Region, Access)> = [(x, Access::Read), (to, Access::Write)]
            .into_iter()
            .chain(seed.map(|seed| (seed, Access::Read)))
            .collect();
        let nonzeros = f64::from(d.lines) * f64::from(d.nonzeros);
        draft.step(NewStep {
            tile: format!("{} x {} rows and columns, {} invocations", tile.rows, tile.width, tile.lanes),
            blocks: tiles * ranges * u64::from(tile.splits),
            dims: uniform,
            flops: Flops {
                f32: 2.0 * nonzeros * f64::from(d.columns),
                integer: self.drawn_lines(d, [tiles as f64, ranges as f64]) * draw_operations(d),
                ..Flops::default()
            },
            ..NewStep::of(tile.kernel(self, caps), tile.needs(self), &args)
        })
    }

    /// The total number of drawn lines. To gather, a line is drawn once for each tile of columns. To scatter, it is
    /// drawn twice for each tile of columns and each range of positions: first to count the nonzeros, then to list
    /// them.
    fn drawn_lines(&self, d: &SparseDims, [tiles, ranges]: [f64; 2]) -> f64 {
        let lines = f64::from(d.lines) * tiles;
        match self.method {
            SparseMethod::Gather => lines,
            SparseMethod::Scatter => 2.0 * ranges * lines,
        }
    }
}

/// Integer operations that draw a line in `shaders/sketch/sparse.wgsl`, four nonzeros at a time: one call of Philox;
/// for each nonzero, 20 for the upper word of a product and 3 to combine position and sign. Distinct positions take
/// 4 more, and 3 for each nonzero drawn before; for each four, the earlier ones are drawn again. Sorting is not
/// counted.
fn draw_operations(d: &SparseDims) -> f64 {
    let fours = f64::from(d.nonzeros.div_ceil(4));
    let (nonzeros, earlier) = (4.0 * fours, fours * (fours - 1.0) / 2.0);
    let again = earlier * (PHILOX + 4.0 * 27.0);
    let compared = 3.0 * nonzeros * (nonzeros - 1.0) / 2.0;
    let distinct = if d.distinct == 1 { 4.0 * nonzeros + compared + again } else { 0.0 };
    PHILOX * fours + 23.0 * nonzeros + distinct
}
