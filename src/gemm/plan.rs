//! How to compute a matrix product: the one choice.

use super::epilogue::Scale;
use super::kernels::{GemmKernel, Tile};
use super::layouts::Operand;
use super::panels::Panels;
use super::problem::{GemmProblem, OP};
use crate::caps::Caps;
use crate::layout::Precision;
use crate::plan::{Draft, MAX_STEP_SECONDS, Plan, Problem, Region, Seconds};
use crate::{Error, Result};

impl Problem for GemmProblem {
    /// The candidate that is predicted to be the fastest: a tile of a kernel, and a number of parts of k. Operands of f32 that
    /// are to be multiplied as f16 are rounded first. Where something cannot be bound as a whole, the product is cut into panels.
    ///
    /// Operands: A, B, C; the bias and the residual, if the product has them. What is made (`made`) has its table in the place
    /// of its operand. Scalars: alpha and beta where they are other than 1 and 0, and the seed of a generated operand.
    ///
    /// # Errors
    /// [`Error::Limit`] if not even a panel can be bound; [`Error::Unsupported`] if the problem is pinned to what the device
    /// cannot run.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        if self.segments().is_some() {
            return Err(Error::input(OP, "a product over segments is planned with its table"));
        }
        let mut draft = Draft::new(OP, &self.scalars(), caps);
        let operands = self.operands()?.into_iter().map(|operand| {
            let Operand { name, dtype, layout, access } = operand;
            draft.operand(name, dtype, layout, access)
        });
        let operands: Vec<Region> = operands.collect();
        if self.elements() == 0 {
            return Ok(draft.finish());
        }
        let (product, panels) = self.here(caps)?;
        match panels {
            Some(panels) => product.in_panels(&mut draft, &panels, &operands)?,
            None => product.whole(&mut draft, &operands)?,
        }
        Ok(draft.finish())
    }

    /// As [`plan`](Self::plan), with a reason for every other kernel why it was passed over.
    fn explain(&self, caps: &Caps) -> Result<Plan> {
        Ok(self.plan(caps)?.because(self.reasons(caps)?))
    }
}

impl GemmProblem {
    /// Why it is computed so and not otherwise.
    pub(super) fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        let mut reasons = Vec::new();
        if self.elements() == 0 {
            return Ok(reasons);
        }
        let (mut product, panels) = self.here(caps)?;
        if product.precision != self.precision {
            let why = "this device cannot bind what f16 operands are scaled by; they stay f32";
            reasons.push(format!("{}: {why}", self.precision));
        }
        if let Some(panels) = panels {
            reasons.push(format!("{} panels: an operand is larger than what can be bound", panels.count()));
            product = product.first_panel(&panels)?;
        }
        if product.is_in_halves() {
            let halves = match product.precision {
                Precision::Split => "two halves each, and one more product for the cross terms",
                Precision::Fast | Precision::Strict => "one half each",
            };
            reasons.push(format!("operands of f32 are scaled and rounded to f16 first: {halves}"));
            product = product.in_halves()?.last;
        }
        let (chosen, _) = product.choose(caps)?;
        let others = GemmKernel::ALL.into_iter().filter(|kernel| *kernel != chosen.kernel);
        reasons.extend(others.map(|kernel| format!("{kernel}: {}", kernel.passed_over(&product, caps))));
        Ok(reasons)
    }

    /// The product as this device computes it, and its panels, if something cannot be bound as a whole. If the device lacks the
    /// bindings or the room that f16 operands need, the product is computed in f32, which is more precise than was asked for.
    fn here(&self, caps: &Caps) -> Result<(Self, Option<Panels>)> {
        let strict = self.precision(Precision::Strict);
        if !self.is_in_halves() {
            return Ok((strict, strict.panels(caps)?));
        }
        let scaled = if self.precision == Precision::Split { 3 } else { 2 };
        let is_bound = 2 + self.extra_bindings() + scaled <= caps.limits.storage_bindings;
        match self.panels(caps) {
            Ok(panels) if is_bound => Ok((*self, panels)),
            _ => Ok((strict, strict.panels(caps)?)),
        }
    }

    /// The panels of the product, if something cannot be bound as a whole. A product with an operand that kernels make cannot be
    /// cut.
    fn panels(&self, caps: &Caps) -> Result<Option<Panels>> {
        // Exponents and cross terms are those of whole operands.
        let is_whole =
            self.made.is_some() || matches!(self.epilogue.scale, Scale::Back | Scale::BackWithCross);
        match self.check_bound(caps) {
            Ok(()) if is_whole || Panels::own_fits(self, caps)? => Ok(None),
            Err(limit) if is_whole => Err(limit),
            _ => Panels::new(self, caps).map(Some),
        }
    }

    /// Adds the steps of a product whose operands can be bound.
    pub(super) fn whole(&self, draft: &mut Draft<'_>, operands: &[Region]) -> Result<()> {
        if self.is_in_halves() {
            return self.by_halves(draft, operands);
        }
        self.check_bound(draft.caps())?;
        let (tile, parts) = self.choose(draft.caps())?;
        tile.steps(draft, self, parts, operands)
    }

    /// The one choice. Launches are cut between workgroups, so of those that keep the device for too long there are none, if
    /// there are others.
    pub(super) fn choose(&self, caps: &Caps) -> Result<(&'static Tile, u32)> {
        let cost = |&(tile, parts): &(&Tile, u32)| {
            let is_too_long = tile.block_seconds(self, parts, caps) > MAX_STEP_SECONDS;
            (is_too_long, tile.cost_in_parts(self, parts, caps) + tile.compiling(caps))
        };
        GemmKernel::ALL
            .iter()
            .flat_map(|kernel| kernel.tiles())
            .filter(|tile| self.pin.allows(tile) && tile.fits(self, caps).is_ok())
            .flat_map(|tile| tile.splits(self, caps).map(move |parts| (tile, parts)))
            .map(|candidate| (cost(&candidate), candidate))
            .min_by(|((a_long, a), _), ((b_long, b), _)| a_long.cmp(b_long).then(a.total_cmp(b)))
            .map(|(_, chosen)| chosen)
            .ok_or_else(|| unsupported(self, caps))
    }
}

fn unsupported(problem: &GemmProblem, caps: &Caps) -> Error {
    let allowed =
        GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles()).filter(|tile| problem.pin.allows(tile));
    let mut needs = lacking(allowed, problem, caps);
    if needs.is_empty() {
        needs = format!("a tile of its table, not {:?}", problem.pin);
    }
    Error::Unsupported { op: OP, needs, device: caps.adapter.clone() }
}

/// What the device lacks for these tiles: each lack once, of sizes the least that would do.
fn lacking<'a>(tiles: impl IntoIterator<Item = &'a Tile>, problem: &GemmProblem, caps: &Caps) -> String {
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

impl GemmKernel {
    fn passed_over(self, problem: &GemmProblem, caps: &Caps) -> String {
        if !self.tiles().iter().any(|tile| problem.pin.allows(tile)) {
            return "another kernel is pinned".into();
        }
        let fitting = self.tiles().iter().filter(|tile| tile.fits(problem, caps).is_ok());
        let costs = fitting.flat_map(|tile| {
            tile.splits(problem, caps).map(|parts| tile.cost_in_parts(problem, parts, caps))
        });
        let fastest = costs.min_by(f64::total_cmp);
        match fastest {
            Some(seconds) => format!("slower here, predicted {}", Seconds(seconds)),
            None => format!("needs {}", lacking(self.tiles(), problem, caps)),
        }
    }
}
