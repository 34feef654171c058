//! Generated operands: the variants that generate them, and the number of operations for it, as counted in the shaders.
//!
//! Every block that uses a part of an operand generates it again: A once for each column of blocks, B once for each row.

use super::stage::OperandAxis;
use crate::gemm::problem::{
    Distribution, Gated, GemmProblem, Generated, GeneratedOperand, HalfAxis, OuterAxis, PlaneSource,
    Segments, Side, SignHalf, Tile,
};
use crate::kernel::Kernel;
use crate::plan::{Flops, PHILOX};
use std::cmp::Ordering;

/// The binding of a tensor that holds the seed: after A, B and C.
const SEED_BINDING: u32 = 3;

impl GeneratedOperand {
    /// Fills the slots that load the operand.
    pub(super) fn bind(&self, kernel: Kernel) -> Kernel {
        let (unit, load) = match self.side {
            Side::A => ("a_unit", "tiled_load_a"),
            Side::B => ("b_unit", "tiled_load_b"),
        };
        let kernel = kernel.slot(load, "generated").param(unit, "u32").param("TAG", self.tag);
        let kernel = self.seed.bind(kernel, SEED_BINDING);
        let kernel = match (self.entries, self.outer) {
            (Distribution::Sign, OuterAxis::Rows) => return kernel.slot("entries", "signs"),
            (Distribution::Sign, OuterAxis::Columns) => return kernel.slot("entries", "signs_across"),
            (_, OuterAxis::Rows) => kernel,
            (_, OuterAxis::Columns) => kernel.slot("entries", "words_across"),
        };
        kernel.param("NORMAL", self.entries == Distribution::Normal)
    }
}

impl SignHalf {
    /// The axis along which units of an operand B are generated. A stored operand of the same order in memory would be staged
    /// along this axis, so both take equally many bytes of shared memory.
    pub(super) fn staged_axis(self, problem: &GemmProblem) -> OperandAxis {
        let strides = problem.layouts.b.strides;
        match (strides[3].cmp(&strides[2]), self.axis) {
            // If the stored half has a single row or column, both strides can be equal.
            (Ordering::Less, _) | (Ordering::Equal, HalfAxis::Outer) => OperandAxis::Outer,
            (Ordering::Greater, _) | (Ordering::Equal, HalfAxis::K) => OperandAxis::K,
        }
    }

    /// The constants of a kernel that generates the signs.
    pub(super) fn params(self, kernel: Kernel) -> Kernel {
        let rows = match self.outer {
            OuterAxis::Rows => HalfAxis::Outer,
            OuterAxis::Columns => HalfAxis::K,
        };
        kernel
            .param("HALF_AXIS", self.axis as u32)
            .param("SIGN_HALF", self.half as u32)
            .param("SIGN_ROWS", rows as u32)
            .param("TAG", self.tag)
    }

    /// Fills the slot that loads the operand.
    pub(super) fn bind(&self, kernel: Kernel, slot: &'static str) -> Kernel {
        self.params(kernel.slot(slot, "sign_half"))
    }
}

/// The order in which a lane stages signs. A lane caches the last words that it generated: the signs of four rows and 32
/// columns.
#[derive(Clone, Copy)]
pub(super) enum Signs {
    /// Vectors of four along the outer axis, this far apart along k.
    Apart(u32),
    /// Vectors of four, no two of which share words.
    Scattered,
    /// Units of eight along this axis, no two of which share words.
    Units(OperandAxis),
}

impl Signs {
    /// Calls of Philox per sign, where `rows` is the axis of the matrix of signs that is the outer axis.
    fn calls(self, rows: OuterAxis) -> f64 {
        match (self, rows) {
            // A vector of four rows of a column: up to 32 columns share its words.
            (Self::Apart(step), OuterAxis::Rows) => f64::from(step.min(32)) / 128.0,
            // A vector along a row: four rows share its words.
            (Self::Apart(step), OuterAxis::Columns) => f64::from(step.min(4)) / 16.0,
            (Self::Scattered, _) => 1.0 / 4.0,
            // Eight rows need the words of two calls, eight columns those of one.
            (Self::Units(OperandAxis::Outer), OuterAxis::Rows)
            | (Self::Units(OperandAxis::K), OuterAxis::Columns) => 2.0 / 8.0,
            (Self::Units(_), _) => 1.0 / 8.0,
        }
    }
}

impl Distribution {
    /// Operations on integers and on f32 that turn a word into an entry, as in `entries.wgsl`. Conversions are not counted.
    fn operations(self) -> [f64; 2] {
        match self {
            // 5 for the exponent and the remaining bits, 5 for the index into the table, 7 for the interpolation, 4 for the sign.
            Self::Normal => [21.0, 1.0],
            Self::Uniform => [3.0, 1.0],
            Self::Sign => [2.0, 2.0],
        }
    }
}

/// Operations that generate the operands of a problem. `signs` is the order in which a lane stages signs.
pub(super) fn flops(tile: &Tile, problem: &GemmProblem, signs: Signs) -> Flops {
    let [rows, columns] = [problem.m().div_ceil(tile.bm), problem.n().div_ceil(tile.bn)].map(f64::from);
    let [m, n, k, batches] = [problem.m(), problem.n(), problem.k(), problem.batches()].map(f64::from);
    let (of_a, of_b) = (batches * m * k * columns, batches * n * k * rows);
    let drawn = |entries: f64, of: Distribution, calls: f64| {
        let [integer, f32] = of.operations();
        Flops { integer: entries * (PHILOX * calls + integer), f32: entries * f32, ..Flops::default() }
    };
    match problem.generated {
        None | Some(Generated::Windows(_)) => Flops::default(),
        Some(Generated::Operand(generated)) => {
            let calls = match (generated.entries, generated.outer) {
                (Distribution::Sign, outer) => signs.calls(outer),
                // One call generates four entries of a column, but only one entry of a row.
                (_, OuterAxis::Rows) => 1.0 / 4.0,
                (_, OuterAxis::Columns) => 1.0,
            };
            let entries = if generated.side == Side::A { of_a } else { of_b };
            drawn(entries, generated.entries, calls)
        }
        Some(Generated::SignHalf(half)) => drawn(of_b / 2.0, Distribution::Sign, signs.calls(half.outer)),
        Some(Generated::Segments(segments)) => {
            let of_terms = segments.operations_of_terms(problem.batches());
            Flops::of_f32(m * f64::from(segments.length) * columns * of_terms)
        }
    }
}

impl Segments {
    /// Operations for one element of every segment of all matrices, in f32. Each term is multiplied by its sign and by the
    /// second factor, and added. The sum is multiplied by the gate, if there is one.
    fn operations_of_terms(&self, matrices: u32) -> f64 {
        // The table holds the start of each matrix's segments, the end, three words for each segment, and the terms.
        let terms = self.words - (matrices + 1) - 3 * self.total;
        let gates = if self.source() == PlaneSource::Products(Gated::Yes) { self.total } else { 0 };
        3.0 * f64::from(terms) + f64::from(gates)
    }
}
