//! How to compute a matrix product: the one choice.

use super::layouts::Operand;
use super::panels::Panels;
use super::precision::Precision;
use super::problem::{GemmProblem, OP, Pin};
use super::tile::Tile;
use super::{coop, dot, gemv, naive, tiled};
use crate::gpu::Caps;
use crate::plan::{Draft, Plan, Problem, Region, Seconds};
use crate::{Error, Result};
use std::fmt;

/// A way to compute matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GemmKernel {
    /// Every element by one invocation: needs nothing.
    Naive,
    /// Few rows or few columns: the matrix that is not thin is read once, in vectors.
    Gemv,
    /// Blocks staged in shared memory, patches in registers.
    Tiled,
    /// Of i8: blocks staged in shared memory as words of four elements, whose dot products are one operation.
    Dot,
    /// Blocks staged in shared memory, patches in cooperative matrices: tensor cores.
    Coop,
}

impl Problem for GemmProblem {
    /// The candidate that is predicted to be the fastest: a tile of a kernel, and a number of parts of k. Operands of f32 that
    /// are to be multiplied as f16 are rounded first. Where something cannot be bound as a whole, the product is cut into panels.
    ///
    /// Operands: A, B, C; the bias and the residual, if the product has them. What is made (`made`) has its table in the place
    /// of its operand, or behind C. Scalars: alpha and beta, and the seed of a generated operand.
    ///
    /// # Errors
    /// [`Error::Limit`] if not even a panel can be bound; [`Error::Unsupported`] if the problem is pinned to what the device
    /// cannot run.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, self.scalars(), caps);
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
        let plan = self.plan(caps)?;
        if self.elements() == 0 {
            return Ok(plan.because(["there is nothing to compute".to_owned()]));
        }
        let mut reasons = Vec::new();
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
        Ok(plan.because(reasons))
    }
}

impl GemmProblem {
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
        match self.check_bound(caps) {
            Ok(()) if self.made.is_some() || Panels::own_fits(self, caps)? => Ok(None),
            Err(limit) if self.made.is_some() => Err(limit),
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

    /// The one choice.
    fn choose(&self, caps: &Caps) -> Result<(&'static Tile, u32)> {
        let cost = |&(tile, parts): &(&Tile, u32)| tile.cost_in_parts(self, parts, caps) + tile.compiling();
        GemmKernel::ALL
            .iter()
            .flat_map(|kernel| kernel.tiles())
            .filter(|tile| self.pin.allows(tile) && tile.fits(self, caps).is_ok())
            .flat_map(|tile| tile.splits(self, caps).map(move |parts| (tile, parts)))
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
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
    /// Every kernel.
    pub const ALL: [Self; 5] = [Self::Naive, Self::Gemv, Self::Tiled, Self::Dot, Self::Coop];

    /// The kernel's tiles.
    #[must_use]
    pub const fn tiles(self) -> &'static [Tile] {
        match self {
            Self::Naive => &naive::TILES,
            Self::Gemv => &gemv::TILES,
            Self::Tiled => &tiled::TILES,
            Self::Dot => &dot::TILES,
            Self::Coop => &coop::TILES,
        }
    }

    /// The file of the kernel, in `shaders/`.
    #[must_use]
    pub const fn shader(self) -> &'static str {
        match self {
            Self::Naive => "gemm_naive",
            Self::Gemv => "gemv",
            Self::Tiled => "gemm_tiled",
            Self::Dot => "gemm_dot",
            Self::Coop => "gemm_coop",
        }
    }

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

impl fmt::Display for GemmKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Naive => "naive",
            Self::Gemv => "gemv",
            Self::Tiled => "tiled",
            Self::Dot => "dot",
            Self::Coop => "coop",
        })
    }
}

impl Pin {
    /// Whether it allows a kernel that can split k: the naive one cannot.
    pub(super) fn allows_parts(self) -> bool {
        match self {
            Self::Kernel(kernel) => kernel != GemmKernel::Naive,
            Self::Tile(tile) => tile.kernel != GemmKernel::Naive,
            Self::Free | Self::Staged => true,
        }
    }

    fn allows(&self, tile: &Tile) -> bool {
        match self {
            Self::Free => true,
            Self::Kernel(kernel) => tile.kernel == *kernel,
            Self::Tile(pinned) => tile == pinned,
            Self::Staged => matches!(tile.kernel, GemmKernel::Tiled | GemmKernel::Coop),
        }
    }
}
