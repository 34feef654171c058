//! The plan of a Hadamard operator: the passes of each piece, in order.

use super::kernel::{HadamardPass, HadamardSource, HadamardTarget};
use super::passes::{lacking, split};
use super::problem::{HadamardPiece, HadamardProblem};
use crate::caps::Caps;
use crate::kernel::check_scratch;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{Access, CutAxes, Draft, Flops, InWindows, Joins, NewStep, PHILOX, Plan, Region, Time};
use crate::sketch::operator::OP;
use crate::{Error, Result};
use std::ops::Range;

impl HadamardProblem {
    /// The pieces with their passes, checked against the device's limits.
    ///
    /// # Errors
    /// As for [`pieces`](Self::pieces); also [`Error::Limit`] if the device cannot bind the scratch buffer of a single
    /// line, and [`Error::Unsupported`] if its workgroups are too small for any pass.
    fn in_passes(&self, caps: &Caps) -> Result<Vec<(HadamardPiece, Vec<HadamardPass>)>> {
        let with_passes = |piece: HadamardPiece| {
            let passes = piece.passes(caps);
            if passes.is_empty() {
                return Err(caps.unsupported(OP, lacking(&piece, caps)));
            }
            if passes.len() > 1 {
                check_scratch(OP, caps, 4 * piece.scratch_elements())?;
            }
            Ok((piece, passes))
        };
        self.pieces(caps)?.into_iter().map(with_passes).collect()
    }
}

impl HadamardPiece {
    /// The passes of the transform, in order. The split of the levels has the least total time.
    #[must_use]
    pub fn passes(&self, caps: &Caps) -> Vec<HadamardPass> {
        split(self, caps)
    }
}

impl InWindows for HadamardProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        self.operand.cut_axes()
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        self.of_window(&layouts[0])
    }

    /// The passes of each piece, in order; with windows, each window has them. Pieces run one after another, so they share one
    /// scratch buffer.
    ///
    /// Operands: x, the result, the seed if a tensor holds it. Scalars: the scale and, if no tensor holds the seed, the seed
    /// and the inverse of the row order.
    ///
    /// # Errors
    /// [`Error::Limit`] if the device cannot bind a single line or its scratch buffer; [`Error::Unsupported`] if its workgroups are too small for any pass.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &self.scalars(), caps);
        let (operands, seed) = self.operand.operands()?;
        let [x, y] = operands.map(|of| draft.region(&of));
        let seed = seed.map(|of| draft.region(&of));
        let pieces = self.in_passes(caps)?;
        let several = pieces.iter().filter(|(_, passes)| passes.len() > 1);
        let elements = several.map(|(piece, _)| piece.scratch_elements()).max();
        let scratch = match elements.map(usize::try_from).transpose().map_err(Error::device)? {
            Some(elements) => draft.temporary(&[elements], DType::F32)?,
            None => y,
        };
        let writes = if pieces.len() == 1 { Access::Write } else { Access::Update };
        for pass in pieces.iter().flat_map(|(_, passes)| passes) {
            let from = if pass.source == HadamardSource::Scratch { scratch } else { x };
            let to = match pass.target {
                HadamardTarget::Scratch if pass.is_in_place() => (scratch, Access::Update),
                HadamardTarget::Scratch => (scratch, Access::Write),
                HadamardTarget::Permuted | HadamardTarget::Signed => (y, writes),
            };
            let args: Vec<(Region, Access)> = match seed {
                _ if pass.is_in_place() => vec![to],
                None => vec![(from, Access::Read), to],
                Some(seed) => vec![(from, Access::Read), to, (seed, Access::Read)],
            };
            step(&mut draft, pass, &args)?;
        }
        Ok(draft.finish())
    }
}

fn step(draft: &mut Draft<'_>, pass: &HadamardPass, args: &[(Region, Access)]) -> Result<()> {
    let (caps, d) = (draft.caps(), &pass.dims);
    let lines = f64::from(d.columns) * f64::from(d.batches);
    let additions = lines * f64::from(1u32 << d.bits) * f64::from(pass.tile.levels);
    // Each workgroup generates its own signs, one call of Philox for 128, and a row order, one call for each round.
    let rounds = if pass.finds_row_order() { 4.0 } else { 0.0 };
    let calls = pass.blocks() as f64 * (f64::from(pass.signs()[0]) + rounds);
    let (low, high) = (d.low_bits, d.low_bits + pass.tile.levels);
    draft.step(NewStep {
        tile: format!("levels {low}..{high}, {}, {}", pass.tile, pass.dtype),
        blocks: pass.blocks(),
        dims: HadamardProblem::uniform(d, draft),
        flops: Flops { f32: additions, integer: PHILOX * calls, ..Flops::default() },
        time: Time::Predicted(pass.prediction(caps)),
        ..NewStep::of(pass.kernel(caps), pass.needs(), args)
    })
}
