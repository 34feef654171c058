//! Products with an operand that is not in memory: its entries are made from a seed in the kernel, where others are
//! staged. Of an operand that is so in half, `half_signs.rs` has the rest.

use super::half_signs::HalfSigns;
use super::halves::Side;
use super::problem::GemmProblem;
use super::segments::Segments;
use crate::kernel::Kernel;

/// What of a product's operands is not in memory as the product has it: made from a seed, or from other operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Made {
    /// The whole of one.
    Whole(Generated),
    /// A half of B.
    Half(HalfSigns),
    /// Other planes of both for each segment of k.
    Segments(Segments),
}

/// An operand that is made from a seed: what changes the kernel's code. The seed itself is a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Generated {
    /// Which operand it is.
    pub side: Side,
    /// What its entries are.
    pub entries: Entries,
    /// Which of its axes is the outer one.
    pub outer: Outer,
    /// The last word of the counters.
    pub tag: u32,
}

/// What generated entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entries {
    /// Normal numbers.
    Normal,
    /// Uniform numbers between -1 and 1.
    Uniform,
    /// 1 and -1.
    Sign,
}

/// The axis of a generated matrix that a product keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outer {
    /// Its rows: the matrix on the left, or its transpose on the right.
    Rows,
    /// Its columns: the transpose on the left, or the matrix on the right.
    Columns,
}

impl Entries {
    /// The size in words of the table that they are made from.
    pub(crate) const fn table_words(self) -> u64 {
        match self {
            Self::Normal => 1025,
            Self::Uniform | Self::Sign => 1,
        }
    }
}

impl GemmProblem {
    /// The same product, an operand of which is generated. What is in its place in memory is the table of its entries.
    #[must_use]
    pub fn generated(mut self, generated: Generated) -> Self {
        let d = &mut self.dims;
        match generated.side {
            Side::A => (d.a_outer, d.a_k, d.a_offset, [d.a_batch0, d.a_batch1]) = (0, 1, 0, [0, 0]),
            Side::B => (d.b_outer, d.b_k, d.b_offset, [d.b_batch0, d.b_batch1]) = (0, 1, 0, [0, 0]),
        }
        self.made = Some(Made::Whole(generated));
        self
    }

    /// The operand on this side, if the whole of it is made.
    pub(super) fn generated_at(&self, side: Side) -> Option<Generated> {
        match self.made {
            Some(Made::Whole(generated)) if generated.side == side => Some(generated),
            _ => None,
        }
    }

    /// Operand B, if half of it is made.
    pub(super) fn halved(&self) -> Option<HalfSigns> {
        match self.made {
            Some(Made::Half(signs)) => Some(signs),
            _ => None,
        }
    }
}

impl Generated {
    /// Binds the operand's loader.
    pub(super) fn bind(&self, kernel: Kernel) -> Kernel {
        let (unit, memory) = match self.side {
            Side::A => ("a_unit", "memory_a"),
            Side::B => ("b_unit", "memory_b"),
        };
        let kernel = kernel.slot(memory, "generated").param(unit, "u32").param("TAG", self.tag);
        let kernel = match (self.entries, self.outer) {
            (Entries::Sign, Outer::Rows) => return kernel.slot("entries", "signs"),
            (Entries::Sign, Outer::Columns) => return kernel.slot("entries", "signs_across"),
            (_, Outer::Rows) => kernel,
            (_, Outer::Columns) => kernel.slot("entries", "words_across"),
        };
        kernel.param("NORMAL", self.entries == Entries::Normal)
    }
}
