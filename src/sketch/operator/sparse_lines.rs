//! The nonzeros of a sparse operator, drawn line by line.

use crate::layout::{below, philox};

/// The lines of a sparse operator: its columns or its rows, each with the same number of nonzeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::sketch) struct SparseLines {
    pub(in crate::sketch) axis: LineAxis,
    /// Nonzeros of each line.
    pub(in crate::sketch) nonzeros: u32,
    /// Positions in each line.
    pub(in crate::sketch) length: u32,
    pub(in crate::sketch) positions: PositionDraw,
    /// The last word of the Philox counter.
    pub(in crate::sketch) tag: u32,
}

/// Whether the lines of a sparse operator are its columns or its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::sketch) enum LineAxis {
    Columns,
    Rows,
}

/// How the positions of a line's nonzeros are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::sketch) enum PositionDraw {
    /// All different, by Floyd's algorithm.
    Distinct,
    /// Each from all positions, so that one may be drawn twice.
    Independent,
}

impl SparseLines {
    /// Positions and signs of the nonzeros of a line, in the order in which they are drawn. `draw` in
    /// `shaders/sketch/sparse.wgsl` does the same.
    pub(in crate::sketch) fn nonzeros(&self, seed: u64, line: u32) -> Vec<(u32, f32)> {
        let mut drawn: Vec<(u32, f32)> = Vec::with_capacity(self.nonzeros as usize);
        for t in 0..self.nonzeros {
            let word = philox(seed, [line, t / 4, 0, self.tag])[(t % 4) as usize];
            let position = match self.positions {
                PositionDraw::Independent => below(word, self.length),
                PositionDraw::Distinct => {
                    // Floyd's algorithm: draw from the positions up to `last`; if that one is taken, take `last`.
                    let last = self.length - self.nonzeros + t;
                    let position = below(word, last + 1);
                    if drawn.iter().any(|&(taken, _)| taken == position) { last } else { position }
                }
            };
            drawn.push((position, sign(word)));
        }
        drawn
    }
}

/// 1 or -1, chosen by the lowest bit of a word.
pub(super) fn sign(word: u32) -> f32 {
    if word & 1 == 0 { 1.0 } else { -1.0 }
}
