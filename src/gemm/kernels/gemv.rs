//! The GEMV kernel, for skinny products with few rows or few columns: its time is that of reading the matrix operand once.

use super::compute_unit::ComputeUnit;
use super::cost::{Cost, Traffic, depth};
use super::spec::{KernelSpec, in_memory, of_fractions};
use super::stage::{OperandAxis, OperandLines};
use super::store::store;
use crate::caps::Caps;
use crate::gemm::problem::{GemmKernel, GemmProblem, Tile};
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};

pub(super) struct Gemv;

/// The largest number of rows of A or columns of B of a skinny product. Kernels with blocks compute larger products.
const MAX_SKINNY: u32 = 8;

/// Each tile has the extents of a workgroup along the matrix operand's outer axis and along k, and the extent of an invocation
/// along the outer axis. With few lines, all lanes run along k; with many, they run along the outer axis if that is
/// contiguous. The tile with few lanes is for software devices, where the vectors of one lane are contiguous.
const TILES: [Tile; 5] = [
    Tile::skinny([4, 512], 4),
    Tile::skinny([16, 128], 4),
    Tile::skinny([32, 256], 4),
    Tile::skinny([128, 32], 4),
    Tile::skinny([64, 4], 8),
];

impl Tile {
    /// A tile of products with few rows or columns.
    const fn skinny([bm, bk]: [u32; 2], tm: u32) -> Self {
        Self { kernel: GemmKernel::Gemv, bm, bn: MAX_SKINNY, bk, tm, tn: MAX_SKINNY, fragment: 0 }
    }
}

/// The matrix operand of a skinny product: the large one. Its reads determine the time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatrixOperand {
    /// A, if B has few columns.
    A = 0,
    /// B, if A has few rows.
    B = 1,
}

/// How an operand is loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GemvLoads {
    /// Element by element; consecutive lanes read along this axis.
    Elements(OperandAxis),
    /// In vectors of four along this axis.
    Vectors(OperandAxis),
}

impl GemvLoads {
    /// Loads vectors if an axis is contiguous and every line along it starts at a multiple of four. Lines may end anywhere.
    fn of(lines: &OperandLines) -> Self {
        match lines.strides {
            [_, 1] if lines.start_at(4, OperandAxis::K) => Self::Vectors(OperandAxis::K),
            [1, _] if lines.start_at(4, OperandAxis::Outer) => Self::Vectors(OperandAxis::Outer),
            [1, apart] if apart != 1 => Self::Elements(OperandAxis::Outer),
            _ => Self::Elements(OperandAxis::K),
        }
    }

    /// The axis along which consecutive lanes read.
    fn axis(self) -> OperandAxis {
        match self {
            Self::Elements(axis) | Self::Vectors(axis) => axis,
        }
    }
}

/// A skinny product: a matrix operand times a vector operand with few rows or columns.
#[derive(Clone, Copy)]
struct Skinny {
    matrix: MatrixOperand,
    /// The number of rows or columns of the vector operand, rounded up to a power of two.
    count: u32,
    /// How the matrix operand is loaded.
    matrix_loads: GemvLoads,
    /// How the vector operand is loaded.
    vector_loads: GemvLoads,
}

impl Skinny {
    /// The product as a skinny product, if it is one. The operand with fewer rows or columns is the vector operand.
    fn of(problem: &GemmProblem) -> Option<Self> {
        let [a, b] = OperandLines::of(problem).map(|lines| GemvLoads::of(&lines));
        let (m, n) = (problem.m(), problem.n());
        let of = |matrix, count: u32, matrix_loads, vector_loads| {
            let is_skinny = count <= MAX_SKINNY;
            is_skinny.then(|| Self { matrix, count: count.next_power_of_two(), matrix_loads, vector_loads })
        };
        if n < m { of(MatrixOperand::A, n, a, b) } else { of(MatrixOperand::B, m, b, a) }
    }
}

/// The number of rows or columns of the vector operand.
fn count(problem: &GemmProblem) -> u32 {
    Skinny::of(problem).map_or(MAX_SKINNY, |skinny| skinny.count)
}

/// The number of contiguous elements of the matrix operand that one hardware vector of invocations reads at once. Vectors of a
/// software device execute one after another: the same vector continues along its run.
fn run_length(tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
    let lanes = tile.bm / tile.tm;
    let (is_software, together) = (caps.machine.is_software(), caps.machine.vector_lanes);
    match Skinny::of(problem).map(|skinny| skinny.matrix_loads.axis()) {
        Some(OperandAxis::Outer) if is_software && lanes <= together => tile.bm,
        Some(OperandAxis::Outer) => 4 * lanes.min(together),
        // All invocations of a vector read the same row, one vector of elements after another.
        _ if is_software && tile.bk >= 4 * together => problem.k_per_split().max(1),
        _ => tile.bk.min(problem.k_per_split().max(1)),
    }
}

/// The number of workgroups for one matrix and split.
fn blocks(tile: &Tile, problem: &GemmProblem) -> u32 {
    problem.m().max(problem.n()).div_ceil(tile.bm)
}

impl KernelSpec for Gemv {
    fn shader(&self) -> &'static str {
        "gemm/gemv"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    /// Skinny products of a type that is accumulated in f32.
    fn admits(&self, _: &Tile, problem: &GemmProblem, _: &Caps) -> Result<(), String> {
        in_memory(problem)?;
        of_fractions(problem)?;
        match Skinny::of(problem) {
            Some(_) => Ok(()),
            None => Err(format!("m or n of at most {MAX_SKINNY}")),
        }
    }

    fn invocations(&self, tile: &Tile, _: &Caps) -> u32 {
        tile.bm / tile.tm * (tile.bk / 4)
    }

    fn accumulators(&self, tile: &Tile, problem: &GemmProblem, _: &Caps) -> u32 {
        tile.tm * count(problem)
    }

    /// The accumulators of every invocation.
    fn shared_bytes(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u32 {
        self.invocations(tile, caps) * self.accumulators(tile, problem, caps) * 4
    }

    fn blocks(&self, tile: &Tile, problem: &GemmProblem, _: &Caps) -> u64 {
        problem.pairs() * u64::from(blocks(tile, problem))
    }

    /// The matrix operand is read once; adding the invocations' sums takes one more iteration.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let skinny = Tile { tn: count(problem), ..*tile };
        let count = f64::from(skinny.tn);
        let cost = Cost::of_blocks(&skinny, problem, caps, ComputeUnit::F32);
        Cost {
            blocks: [f64::from(blocks(tile, problem)), 1.0],
            block: [f64::from(tile.bm), count],
            tile: [f64::from(tile.tm), count],
            iterations: (depth(problem) / f64::from(tile.bk)).ceil() + 1.0,
            barrier_seconds: 0.0,
            reducing: self.invocations(tile, caps),
            traffic: Traffic::Once {
                run_bytes: f64::from(run_length(tile, problem, caps).max(1)) * problem.types.ab.size() as f64,
            },
            ..cost
        }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let ab = StorageFormat::of(problem.types.ab, caps);
        let kernel = problem
            .bind_dims(Kernel::new(self.shader()), caps)
            .param("SKINNY", count(problem))
            .param("BO", tile.bm)
            .param("BK", tile.bk)
            .param("TO", tile.tm);
        // NOTE: `admits` made sure that the product is skinny.
        let Some(Skinny { matrix, matrix_loads, vector_loads, .. }) = Skinny::of(problem) else {
            return kernel;
        };
        let lanes_along_k = u32::from(matrix_loads.axis() == OperandAxis::K);
        let kernel = kernel.param("MATRIX_BINDING", matrix as u32).param("LANES_ALONG_K", lanes_along_k);
        let [element, vector] =
            [AccessWidth::One, AccessWidth::Four].map(|width| OperandAccess::read(ab, width));
        let kernel = match matrix_loads {
            GemvLoads::Elements(_) => kernel.operand("matrix", element),
            GemvLoads::Vectors(OperandAxis::K) => {
                kernel.operand("matrix", vector).param("MATRIX_LOADS", "VECTORS_ALONG_K")
            }
            GemvLoads::Vectors(OperandAxis::Outer) => {
                kernel.operand("matrix", vector).param("MATRIX_LOADS", "VECTORS_ALONG_OUTER")
            }
        };
        let kernel = match vector_loads {
            GemvLoads::Vectors(OperandAxis::K) => {
                kernel.operand("vector", vector).param("VECTOR_LOADS", "VECTORS_ALONG_K")
            }
            _ => kernel.operand("vector", element),
        };
        store(kernel, problem, 3, caps)
    }

    fn describe(&self, tile: &Tile) -> String {
        format!("{} lines, {} deep ({} per invocation)", tile.bm, tile.bk, tile.tm)
    }
}
