//! The entries of an operator, computed on the host.

use super::kind::SketchKind;
use super::row_order::RowOrder;
use super::sketch::Sketch;
use super::sparse_lines::{LineAxis, SparseLines, sign};
use crate::layout::{ONE, normal, philox};

impl Sketch {
    /// The entry in row i and column j: the unscaled entry times the scale, both in f32.
    ///
    /// # Panics
    /// If `row` or `col` is out of range.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "indices are checked, the scale is rounded once")]
    pub fn entry(&self, row: usize, col: usize) -> f32 {
        let [rows, cols] = self.shape();
        assert!(row < rows && col < cols, "[{row}, {col}] of {:?}", self.shape());
        self.unscaled(row as u32, col as u32) * self.scale() as f32
    }

    /// The entry in row i and column j before scaling. It is exact in f32.
    fn unscaled(&self, i: u32, j: u32) -> f32 {
        let word = |counter| philox(self.seed(), counter)[(i % 4) as usize];
        match self.kind() {
            SketchKind::Gaussian => normal(word([i / 4, j, 0, self.tag()])) as f32 / ONE,
            SketchKind::Uniform => uniform(word([i / 4, j, 0, self.tag()])),
            SketchKind::Sign => sign(word([i / 4, j / 32, 0, self.tag()]) >> (j % 32)),
            SketchKind::Hadamard => {
                let row = RowOrder::new(self).row(i);
                let parity = if (row & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                parity * sign(self.hadamard_word(j) >> (j % 32))
            }
            _ => {
                let Some(lines) = self.sparse_lines() else { return 0.0 };
                let (line, position) = if lines.axis == LineAxis::Columns { (j, i) } else { (i, j) };
                let found = lines.nonzeros(self.seed(), line);
                found.into_iter().filter(|&(at, _)| at == position).map(|(_, sign)| sign).sum()
            }
        }
    }

    /// The word that holds the signs of column j and its 31 neighbours.
    fn hadamard_word(&self, j: u32) -> u32 {
        philox(self.seed(), [j / 128, 0, 0, self.tag()])[(j / 32 % 4) as usize]
    }

    /// All entries, row-major.
    ///
    /// # Panics
    /// Panics, or aborts the process, if the host cannot allocate that many f32.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f32> {
        let [rows, cols] = self.shape();
        let mut entries = vec![0.0; rows * cols];
        self.entries_from(0, &mut entries);
        entries
    }

    /// Fills `entries` with the operator's entries from index `start` on, row-major. The range must lie in the
    /// operator.
    #[expect(clippy::cast_possible_truncation, reason = "sizes are checked, the scale is rounded once")]
    pub(crate) fn entries_from(&self, start: u64, entries: &mut [f32]) {
        if let Some(lines) = self.sparse_lines() {
            return self.sparse_entries_from(&lines, start, entries);
        }
        let (cols, scale) = (self.shape()[1] as u64, self.scale() as f32);
        let [mut i, mut j] = [start / cols, start % cols].map(|index| index as u32);
        for entry in entries {
            *entry = self.unscaled(i, j) * scale;
            j += 1;
            if u64::from(j) == cols {
                [i, j] = [i + 1, 0];
            }
        }
    }

    /// [`entries_from`](Self::entries_from) for a sparse operator: draws only the lines that may have entries in the
    /// range.
    #[expect(clippy::cast_possible_truncation, reason = "sizes are checked, the scale is rounded once")]
    fn sparse_entries_from(&self, sparse: &SparseLines, start: u64, entries: &mut [f32]) {
        let (cols, scale) = (self.shape()[1] as u64, self.scale() as f32);
        entries.fill(0.0);
        let end = start + entries.len() as u64;
        let (first, last) = (start / cols, end.div_ceil(cols));
        let lines = match sparse.axis {
            LineAxis::Rows => first..last,
            LineAxis::Columns if last - first == 1 => start - first * cols..end - first * cols,
            LineAxis::Columns => 0..cols,
        };
        for line in lines {
            for (position, sign) in sparse.nonzeros(self.seed(), line as u32) {
                let position = u64::from(position);
                let (i, j) =
                    if sparse.axis == LineAxis::Columns { (position, line) } else { (line, position) };
                let at = (i * cols + j).checked_sub(start).and_then(|at| usize::try_from(at).ok());
                if let Some(entry) = at.and_then(|at| entries.get_mut(at)) {
                    *entry += sign * scale;
                }
            }
        }
    }
}

/// The centre of one of $2^{24}$ equal parts of -1..1, chosen by the upper bits of a word.
fn uniform(word: u32) -> f32 {
    // The numerator is odd and below 2^24 in magnitude, so f32 holds it exactly.
    ((word >> 8) as f32 * 2.0 - 16_777_215.0) / 16_777_216.0
}

#[cfg(test)]
mod tests {
    use super::super::{Sketch, SketchKind, SparseAxis};

    #[test]
    fn a_range_of_entries_equals_the_same_range_of_all() {
        let [short, long] = [SparseAxis::Short, SparseAxis::Long];
        for kind in [
            SketchKind::Gaussian,
            SketchKind::Hadamard,
            SketchKind::CountSketch,
            SketchKind::SparseSign { axis: short, nonzeros: 2 },
            SketchKind::SparseSign { axis: long, nonzeros: 9 },
        ] {
            for [rows, cols] in [[4, 7], [1, 30], [9, 3]] {
                // Not all kinds have all shapes.
                let Ok(sketch) = Sketch::new(kind, [rows, cols], 5) else { continue };
                let entry = |at: usize| sketch.entry(at / cols, at % cols);
                for start in 0..rows * cols {
                    for len in 1..=rows * cols - start {
                        let mut part = vec![f32::NAN; len];
                        sketch.entries_from(start as u64, &mut part);
                        assert!(
                            (start..).zip(&part).all(|(at, &found)| found == entry(at)),
                            "{sketch:?} from {start}"
                        );
                    }
                }
            }
        }
    }
}
