//! The kernel of thin products, of few rows or few columns: the other matrix is read once, in vectors, and nothing else
//! takes time.

use super::cost::{Cost, Traffic, Unit, depth};
use super::{Entry, GemmKernel, Tile, in_memory, of_fractions};
use crate::caps::Caps;
use crate::gemm::memory::store;
use crate::gemm::problem::GemmProblem;
use crate::kernel::{Access, Kernel, Memory, Width};

pub(super) struct Gemv;

/// Rows of a thin A, or columns of a thin B, at most: more of them are for blocks.
const THIN: u32 = 8;

/// Of each tile: along the outer axis of the long operand and along k, a workgroup; along that axis, an invocation. All
/// lanes along k for few lines, many along the outer axis for long runs of memory there. The one of few lanes is for
/// software devices, where a lane's own vectors make the run.
const TILES: [Tile; 5] = [
    Tile::of_thin([4, 512], 4),
    Tile::of_thin([16, 128], 4),
    Tile::of_thin([32, 256], 4),
    Tile::of_thin([128, 32], 4),
    Tile::of_thin([64, 4], 8),
];

impl Tile {
    /// A tile of products with few rows or columns.
    const fn of_thin([bm, bk]: [u32; 2], tm: u32) -> Self {
        Self { kernel: GemmKernel::Gemv, bm, bn: THIN, bk, tm, tn: THIN, fragment: 0 }
    }
}

/// The operand of a thin product that is read once and takes the time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Long {
    /// A, where B has few columns.
    A = 0,
    /// B, where A has few rows.
    B = 1,
}

/// How the long operand is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    /// Element by element, neighbours along this axis.
    Elements(Axis),
    /// By vectors of four along this axis.
    Vectors(Axis),
}

/// An axis of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    K,
    Outer,
}

impl Run {
    /// By vectors where an axis is contiguous and every line along it starts at a multiple of four. Lines may end
    /// anywhere.
    fn of([outer_stride, k_stride]: [u32; 2], starts: [u32; 3]) -> Self {
        let whole = |stride: u32| [stride].iter().chain(&starts).all(|size| size.is_multiple_of(4));
        match (outer_stride, k_stride) {
            (lines, 1) if whole(lines) => Self::Vectors(Axis::K),
            (1, lines) if whole(lines) => Self::Vectors(Axis::Outer),
            (1, lines) if lines != 1 => Self::Elements(Axis::Outer),
            _ => Self::Elements(Axis::K),
        }
    }

    /// The axis along which neighbours run.
    fn axis(self) -> Axis {
        match self {
            Self::Elements(axis) | Self::Vectors(axis) => axis,
        }
    }
}

/// A product with one thin operand, seen from the other.
#[derive(Clone, Copy)]
struct Thin {
    long: Long,
    /// Rows of a thin A or columns of a thin B, as many as are computed.
    count: u32,
    /// How the long operand is read.
    run: Run,
    /// How the thin one is, along k.
    thin: Run,
}

impl Thin {
    /// If either operand is thin; of two that are, the thinner.
    fn of(problem: &GemmProblem) -> Option<Self> {
        let d = &problem.dims;
        let a = Run::of([d.a_outer, d.a_k], problem.a_starts());
        let b = Run::of([d.b_outer, d.b_k], problem.b_starts());
        let of = |long, count: u32, run, thin| {
            (count <= THIN).then(|| Self { long, count: count.next_power_of_two(), run, thin })
        };
        if d.n < d.m { of(Long::A, d.n, a, b) } else { of(Long::B, d.m, b, a) }
    }
}

/// Rows or columns that are computed, as if the problem were thin.
fn count(problem: &GemmProblem) -> u32 {
    Thin::of(problem).map_or(THIN, |thin| thin.count)
}

/// Elements of the long operand that neighbours read at once from one run of memory: those in one vector of invocations.
/// Where vectors run one after another, the same one reads on.
fn run(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    let lanes = tile.bm / tile.tm;
    let (in_turn, together) = (caps.machine.runs_in_turn(), caps.machine.vector_lanes);
    match Thin::of(problem).map(|thin| thin.run.axis()) {
        Some(Axis::Outer) if in_turn && lanes <= together => tile.bm,
        Some(Axis::Outer) => 4 * lanes.min(together),
        // Rows are read on and on, where all of a vector are on one.
        _ if in_turn && tile.bk >= 4 * together => problem.dims.k_part.max(1),
        _ => tile.bk.min(problem.dims.k_part.max(1)),
    }
}

/// Workgroups of one part.
fn lines(tile: &Tile, problem: &GemmProblem) -> u32 {
    problem.dims.m.max(problem.dims.n).div_ceil(tile.bm)
}

impl Entry for Gemv {
    fn name(&self) -> &'static str {
        "gemv"
    }

    fn shader(&self) -> &'static str {
        "gemm/gemv"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    /// Of problems with a thin operand, of a type that is summed in f32.
    fn admits(&self, _: &Tile, problem: &GemmProblem, _: &Caps) -> Result<(), String> {
        in_memory(problem)?;
        of_fractions(problem)?;
        match Thin::of(problem) {
            Some(_) => Ok(()),
            None => Err(format!("m or n of at most {THIN}")),
        }
    }

    fn invocations(&self, tile: &Tile, _: &Caps) -> u32 {
        tile.bm / tile.tm * (tile.bk / 4)
    }

    fn accumulators(&self, tile: &Tile, problem: &GemmProblem, _: &Caps) -> u32 {
        tile.tm * count(problem)
    }

    /// The sums of every invocation.
    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        self.invocations(tile, caps) * self.accumulators(tile, problem, caps) * 4
    }

    fn blocks(&self, tile: &Tile, problem: &GemmProblem, _: &Caps) -> u64 {
        problem.dims.parts() * u64::from(lines(tile, problem))
    }

    /// The long operand is read once, and the neighbours' sums take one step more.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let count = f64::from(count(problem));
        let blocks = Cost::of_blocks(tile, problem, caps, Unit::F32);
        Cost {
            blocks: [f64::from(lines(tile, problem)), 1.0],
            block: [f64::from(tile.bm), count],
            patch: [f64::from(tile.tm), count],
            steps: (depth(problem) / f64::from(tile.bk)).ceil() + 1.0,
            meeting: self.invocations(tile, caps),
            traffic: Traffic::Once {
                run: f64::from(run(tile, problem, caps).max(1)) * problem.types.ab.size() as f64,
            },
            ..blocks
        }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let ab = Memory::of(problem.types.ab, caps);
        let kernel = Kernel::new(self.shader())
            .dims(caps, size_of_val(&problem.dims))
            .param("THIN", count(problem))
            .param("BL", tile.bm)
            .param("BK", tile.bk)
            .param("TL", tile.tm);
        // NOTE: a tile that fits has a thin operand: `admits`.
        let Some(Thin { long, run, thin, .. }) = Thin::of(problem) else { return kernel };
        let kernel =
            kernel.param("LONG_BINDING", long as u32).param("ALONG_K", u32::from(run.axis() == Axis::K));
        let [element, vector] = [Width::One, Width::Four].map(|width| Access::read(ab, width));
        let kernel = match run {
            Run::Elements(_) => kernel.operand("long", element),
            Run::Vectors(Axis::K) => kernel.operand("long", vector).param("LONG_LOADS", "VECTORS_ALONG_K"),
            Run::Vectors(Axis::Outer) => {
                kernel.operand("long", vector).param("LONG_LOADS", "VECTORS_ALONG_OUTER")
            }
        };
        let kernel = match thin {
            Run::Vectors(Axis::K) => kernel.operand("thin", vector).param("THIN_LOADS", "VECTORS_ALONG_K"),
            _ => kernel.operand("thin", element),
        };
        store(kernel, problem, 3, caps)
    }

    fn describe(&self, tile: &Tile) -> String {
        format!("{} lines, {} deep ({} per invocation)", tile.bm, tile.bk, tile.tm)
    }
}
