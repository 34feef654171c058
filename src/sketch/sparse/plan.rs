//! Applying sparse operators: the steps.

use super::kernel::Tile;
use super::problem::{SparseDims, SparseProblem};
use crate::Result;
use crate::gemm::sum_of_parts;
use crate::gpu::Caps;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Region, Time};
use crate::sketch::operator::OP;
use crate::tensor::DType;
use std::mem::offset_of;

impl Problem for SparseProblem {
    /// One step, or, where lines are summed in parts, one more that adds these up.
    ///
    /// Operands: x, the result. Scalars: the seed and the scale.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &["seed_low", "seed_high", "scale"], caps);
        let x = draft.operand("x", self.dtype, self.x, Access::Read);
        let y = draft.operand("the result", DType::F32, self.result()?, Access::Write);
        let tile = Tile::of(self, caps);
        if tile.parts == 1 {
            self.step(&mut draft, &tile, [x, y])?;
            return Ok(draft.finish());
        }
        let elements = usize::try_from(self.elements()).unwrap_or(usize::MAX);
        let sums = draft.temporary(&[elements.saturating_mul(tile.parts as usize)], DType::F32)?;
        self.step(&mut draft, &tile, [x, sums])?;
        let elements = self.rows()[1] * self.dims.columns;
        sum_of_parts(&mut draft, [elements, tile.parts], 2, [sums, y])?;
        Ok(draft.finish())
    }
}

impl SparseProblem {
    fn step(&self, draft: &mut Draft<'_>, tile: &Tile, [x, to]: [Region; 2]) -> Result<()> {
        let (caps, dims) = (draft.caps(), tile.dims(self));
        let [tiles, ranges] = [(self.dims.columns, tile.width), (self.rows()[1], tile.rows)]
            .map(|(n, of)| u64::from(n.div_ceil(of)));
        let uniform =
            Dims::of(&dims).scalar(offset_of!(SparseDims, seed0), 0).scalar(offset_of!(SparseDims, seed1), 1);
        // Sums of parts are scaled as they are brought together.
        let uniform =
            if tile.parts == 1 { uniform.scalar(offset_of!(SparseDims, scale), 2) } else { uniform };
        let nonzeros = f64::from(self.dims.lines) * f64::from(self.dims.nonzeros);
        draft.step(NewStep {
            kernel: tile.kernel(self, caps),
            tile: format!("{} x {} rows and columns, {} invocations", tile.rows, tile.width, tile.lanes),
            needs: tile.needs(self),
            blocks: tiles * ranges * u64::from(tile.parts),
            dims: uniform,
            args: &[(x, Access::Read), (to, Access::Write)],
            flops: Flops::of_f32(2.0 * nonzeros * f64::from(self.dims.columns)),
            time: Time::Roofline,
        })
    }
}
