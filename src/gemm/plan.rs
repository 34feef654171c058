//! How to compute a matrix product: the one choice.

use super::problem::{GemmProblem, OP, Pin};
use super::tile::Tile;
use super::{coop, dot, gemv, naive, tiled};
use crate::gpu::Caps;
use crate::kernel::{Plan, Seconds};
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

/// How to compute `problem` on a device: the candidate that is predicted to be the fastest.
///
/// # Errors
/// [`Error::Limit`] if an operand, or the sums of the parts of k that the caller asked for, are larger than this device can bind;
/// [`Error::Unsupported`] if the problem is pinned to what the device cannot run.
pub fn plan(problem: &GemmProblem, caps: &Caps) -> Result<Plan> {
    problem.check_bound(OP, caps)?;
    let cost = |&(tile, parts): &(&Tile, u32)| tile.cost_in_parts(problem, parts, caps) + tile.compiling();
    let (tile, parts) = GemmKernel::ALL
        .iter()
        .flat_map(|kernel| kernel.tiles())
        .filter(|tile| problem.pin.allows(tile) && tile.fits(problem, caps).is_ok())
        .flat_map(|tile| tile.splits(problem, caps).map(move |parts| (tile, parts)))
        .min_by(|a, b| cost(a).total_cmp(&cost(b)))
        .ok_or_else(|| unsupported(problem, caps))?;
    tile.plan(problem, parts, caps)
}

/// As [`plan`], with a reason for every other kernel why it was passed over.
///
/// # Errors
/// As [`plan`].
pub fn explain(problem: &GemmProblem, caps: &Caps) -> Result<Plan> {
    let mut chosen = plan(problem, caps)?;
    let others = GemmKernel::ALL.iter().filter(|kernel| kernel.shader() != chosen.kernel.shader());
    chosen.reasons =
        others.map(|kernel| format!("{kernel}: {}", kernel.passed_over(problem, caps))).collect();
    Ok(chosen)
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
