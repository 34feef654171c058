//! The choice of a kernel of attention: a tile on cooperative matrices, or a form of the plain kernel.

use super::coop::CoopTile;
use super::form::Form;
use super::options::AttentionKernel;
use super::problem::{AttentionProblem, OP};
use crate::caps::Caps;
use crate::{Error, Result};

/// A kernel, and how its invocations share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Plain(Form),
    Coop(CoopTile),
}

impl AttentionProblem {
    /// What the plan takes.
    pub(super) fn choose(&self, caps: &Caps) -> Result<Choice> {
        Ok(self.tile(caps)?.map_or_else(|| Choice::Plain(self.form(caps)), Choice::Coop))
    }

    /// What the plan takes, then everything else that the pin allows, fastest predicted first.
    pub(super) fn choices(&self, caps: &Caps) -> Result<Vec<Choice>> {
        let mut choices = vec![self.choose(caps)?];
        if self.pin != Some(AttentionKernel::Plain) {
            let mut tiles: Vec<CoopTile> =
                CoopTile::all().filter(|tile| tile.fits(self, caps).is_ok()).collect();
            let seconds = |tile: &CoopTile| tile.predict(self, caps).seconds;
            tiles.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
            choices.extend(tiles.into_iter().map(Choice::Coop));
        }
        if self.pin != Some(AttentionKernel::Coop) {
            choices.extend(self.forms(caps).into_iter().map(Choice::Plain));
        }
        Ok(choices)
    }

    /// The tile on cooperative matrices that is predicted to be the fastest; None if the plain kernel is faster, or pinned.
    fn tile(&self, caps: &Caps) -> Result<Option<CoopTile>> {
        if self.pin == Some(AttentionKernel::Plain) {
            return Ok(None);
        }
        let seconds = |tile: &CoopTile| tile.predict(self, caps).seconds;
        let fitting = CoopTile::all().filter(|tile| tile.fits(self, caps).is_ok());
        // Of a device with both sizes of matrices, the larger one: an instruction multiplies more.
        let rank = |a: &CoopTile, b: &CoopTile| {
            b.fragment().cmp(&a.fragment()).then_with(|| seconds(a).total_cmp(&seconds(b)))
        };
        let fastest = fitting.min_by(rank);
        if self.pin.is_some() {
            return fastest.map(Some).ok_or_else(|| {
                let mut lacking: Vec<String> =
                    CoopTile::all().filter_map(|tile| tile.fits(self, caps).err()).collect();
                lacking.dedup();
                Error::Unsupported { op: OP, needs: lacking.join(", or "), device: caps.adapter.clone() }
            });
        }
        let plain = self.plain_flops() * self.form(caps).slowness(caps) / caps.machine.f32_flops;
        Ok(fastest.filter(|tile| seconds(tile) < plain))
    }
}
