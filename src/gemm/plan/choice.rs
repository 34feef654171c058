//! The one choice: the tile and the number of splits that are predicted to be the fastest.

use crate::caps::Caps;
use crate::gemm::problem::{GemmKernel, GemmProblem, OP, Tile};
use crate::plan::MAX_STEP_SECONDS;
use crate::{Error, Result};
use std::cmp::Ordering;

/// A tile and a number of splits.
type TileChoice = (&'static Tile, u32);

/// The order of choices: first whether workgroups keep the device busy for too long, then the predicted seconds.
#[derive(Clone, Copy)]
struct Rank {
    is_too_long: bool,
    seconds: f64,
}

impl Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.is_too_long.cmp(&other.is_too_long).then(self.seconds.total_cmp(&other.seconds))
    }
}

impl GemmProblem {
    /// The one choice. Long launches are cut between workgroups, which needs short workgroups: candidates whose workgroups keep
    /// the device busy for too long are chosen only if there are no others.
    pub(super) fn choose(&self, caps: &Caps) -> Result<TileChoice> {
        let first = self.choices(caps).min_by(|(a, _), (b, _)| a.cmp(b));
        first.map(|(_, chosen)| chosen).ok_or_else(|| unsupported(self, caps))
    }

    /// The choices in the order in which [`choose`](Self::choose) prefers them, without those whose workgroups keep the device
    /// busy for too long, unless that is the first.
    pub(super) fn ranked(&self, caps: &Caps) -> Result<Vec<TileChoice>> {
        let mut choices: Vec<_> = self.choices(caps).collect();
        choices.sort_by(|(a, _), (b, _)| a.cmp(b));
        let Some((first, _)) = choices.first() else { return Err(unsupported(self, caps)) };
        let kept = if first.is_too_long { 1 } else { choices.partition_point(|(rank, _)| !rank.is_too_long) };
        Ok(choices.into_iter().take(kept).map(|(_, choice)| choice).collect())
    }

    /// Whether workgroups of the choice keep the device busy for too long.
    pub(super) fn is_too_long(&self, (tile, splits): TileChoice, caps: &Caps) -> bool {
        tile.block_seconds(self, splits, caps) > MAX_STEP_SECONDS
    }

    /// The choices that the pin allows and the device can run.
    fn choices(&self, caps: &Caps) -> impl Iterator<Item = (Rank, TileChoice)> {
        let rank = |&(tile, splits): &TileChoice| Rank {
            is_too_long: self.is_too_long((tile, splits), caps),
            seconds: tile.cost_of_splits(self, splits, caps) + tile.compile_cost(self, caps),
        };
        GemmKernel::ALL
            .iter()
            .flat_map(|kernel| kernel.tiles())
            .filter(|tile| self.pin.allows(tile) && tile.fits(self, caps).is_ok())
            .flat_map(|tile| tile.splits(self, caps).map(move |splits| (tile, splits)))
            .map(move |choice| (rank(&choice), choice))
    }
}

fn unsupported(problem: &GemmProblem, caps: &Caps) -> Error {
    let allowed =
        GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles()).filter(|tile| problem.pin.allows(tile));
    let mut needs = lacking(allowed, problem, caps);
    if needs.is_empty() {
        needs = format!("a tile of its table, not {:?}", problem.pin);
    }
    caps.unsupported(OP, needs)
}

/// The device's limits that exclude these tiles: each once, with the smallest size that would suffice.
pub(super) fn lacking<'a>(
    tiles: impl IntoIterator<Item = &'a Tile>,
    problem: &GemmProblem,
    caps: &Caps,
) -> String {
    let size = |need: &str| need.split(' ').next().and_then(|word| word.parse::<u64>().ok());
    let kind = |need: &str| need.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    let mut needs: Vec<String> = Vec::new();
    for need in tiles.into_iter().filter_map(|tile| tile.fits(problem, caps).err()) {
        match needs.iter_mut().find(|known| kind(known) == kind(&need)) {
            Some(known) if size(&need) < size(known) => *known = need,
            Some(_) => {}
            None => needs.push(need),
        }
    }
    needs.join(", or ")
}
