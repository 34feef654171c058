//! What it takes to make what of a product's operands is not in memory: operations, counted as the shaders have them.
//!
//! An operand is staged by every block that has a part of it, so A is made once for each column of blocks and B for each row.

use super::Tile;
use crate::gemm::generated::{Entries, Made, Outer};
use crate::gemm::half_signs::HalvedAxis;
use crate::gemm::halves::Side;
use crate::gemm::problem::GemmProblem;
use crate::gemm::segments::{Formed, Gated, Segments};
use crate::plan::{Flops, PHILOX};

/// How a lane comes by the signs that it stages. It keeps the last words that it has made, those of four rows and 32 columns.
#[derive(Clone, Copy)]
pub(super) enum Signs {
    /// In vectors of four along the outer axis, so many steps of k apart.
    Apart(u32),
    /// In vectors of four, of which no two have the same words.
    Scattered,
    /// In units of eight along this axis, of which no two have the same words.
    Units(HalvedAxis),
}

impl Signs {
    /// Calls of Philox for each sign of a matrix whose rows lie along the outer axis, or its columns.
    fn calls(self, rows: Outer) -> f64 {
        match (self, rows) {
            // Down a column, of four rows: the next columns have the same words, up to 32 of them.
            (Self::Apart(step), Outer::Rows) => f64::from(step.min(32)) / 128.0,
            // Along a row: up to three of the next rows have the same words.
            (Self::Apart(step), Outer::Columns) => f64::from(step.min(4)) / 16.0,
            (Self::Scattered, _) => 1.0 / 4.0,
            // Eight rows have two calls' words, eight columns one call's.
            (Self::Units(HalvedAxis::Outer), Outer::Rows) | (Self::Units(HalvedAxis::K), Outer::Columns) => {
                2.0 / 8.0
            }
            (Self::Units(_), _) => 1.0 / 8.0,
        }
    }
}

impl Entries {
    /// Operations on integers and on f32 that make an entry of its word: as `entry.wgsl` and `entries.wgsl` have them, a
    /// conversion counting none.
    fn of_a_word(self) -> [f64; 2] {
        match self {
            // 5 for the exponent and what is behind it, 5 for the places in the table, 7 between two of its entries, 4 for the sign.
            Self::Normal => [21.0, 1.0],
            Self::Uniform => [3.0, 1.0],
            Self::Sign => [2.0, 2.0],
        }
    }
}

/// Operations that make what of the operands is not in memory, whose signs a lane comes by so.
pub(super) fn flops(tile: &Tile, problem: &GemmProblem, signs: Signs) -> Flops {
    let d = &problem.dims;
    let [m, n, k, batches] = [d.m, d.n, d.k, d.batches].map(f64::from);
    let [rows, columns] = [d.m.div_ceil(tile.bm), d.n.div_ceil(tile.bn)].map(f64::from);
    let (of_a, of_b) = (batches * m * k * columns, batches * n * k * rows);
    let drawn = |entries: f64, of: Entries, calls: f64| {
        let [integer, f32] = of.of_a_word();
        Flops { integer: entries * (PHILOX * calls + integer), f32: entries * f32, ..Flops::default() }
    };
    match problem.made {
        None => Flops::default(),
        Some(Made::Whole(generated)) => {
            let calls = match (generated.entries, generated.outer) {
                (Entries::Sign, outer) => signs.calls(outer),
                // A call makes four of a column; along a row there is one for each.
                (_, Outer::Rows) => 1.0 / 4.0,
                (_, Outer::Columns) => 1.0,
            };
            let entries = if generated.side == Side::A { of_a } else { of_b };
            drawn(entries, generated.entries, calls)
        }
        Some(Made::Half(half)) => drawn(of_b / 2.0, Entries::Sign, signs.calls(half.outer)),
        Some(Made::Segments(segments)) => {
            Flops::of_f32(m * f64::from(segments.length) * columns * segments.forming(d.batches))
        }
    }
}

impl Segments {
    /// Operations for an element of every segment of all matrices: each of its terms is multiplied by its sign, and the products
    /// are summed, always in f32; then the gate, if there is one.
    fn forming(&self, matrices: u32) -> f64 {
        // What of the table is not where segments begin, and three words for each.
        let terms = self.words - (matrices + 1) - 3 * self.total;
        let gates = if self.formed == Formed::Products(Gated::Yes) { self.total } else { 0 };
        3.0 * f64::from(terms) + f64::from(gates)
    }
}
