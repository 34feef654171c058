//! Random operators: a rule, a shape and a seed.

use super::hadamard::RowOrder;
use super::normal::{self, normal};
use super::philox::{below, philox};
use crate::error::call;
use crate::layout::dim;
use crate::{Error, Result};

/// The name of sketching in errors.
pub(super) const OP: &str = "sketch";

/// Nonzeros per column or row at most: an invocation holds them in registers.
pub const NONZEROS_AT_MOST: usize = 64;

/// The longest vector of a Hadamard transform, padded.
pub const HADAMARD_AT_MOST: usize = 1 << 24;

/// What an operator's entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SketchKind {
    /// Independent normal entries: Panther's `gaussian_skop`, and unscaled its `dense_sketch_operator`.
    Gaussian,
    /// Independent uniform entries: unscaled, of variance 1/3 where Panther's `dense_sketch_operator` has 1.
    Uniform,
    /// Independent entries of 1 and -1: Panther's `scaled_sign_sketch`.
    Sign,
    /// One entry of 1 or -1 in each column: Panther's `count_skop`.
    CountSketch,
    /// So many entries of 1 and -1 in each column, in different rows: Panther's `sjlt_skop`.
    Sjlt {
        /// Nonzeros per column.
        nonzeros: usize,
    },
    /// Entries of 1 and -1 along the shorter or the longer axis: Panther's `sparse_sketch_operator`, which is unscaled.
    SparseSign {
        /// The axis along which there are so many.
        axis: SparseAxis,
        /// Nonzeros per line of that axis.
        nonzeros: usize,
    },
    /// Rows of a Hadamard matrix whose columns have random signs: the subsampled randomised Hadamard transform.
    Hadamard,
}

/// The axis along which the nonzeros of a sparse operator are counted. The shorter is that of the rows, along a column,
/// where there are no more rows than columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparseAxis {
    /// Along the shorter axis, at different places.
    Short,
    /// Along the longer axis, each place drawn from all: an entry drawn twice is the sum of both signs, where Panther's
    /// is a sign times the root of their number.
    Long,
}

/// What entries are multiplied by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// Such that $E[S^T S] = I$.
    #[default]
    Isometry,
    /// Nothing: normal entries of variance 1, uniform ones between -1 and 1, signs.
    Unscaled,
    /// Such that rows of a Hadamard operator are orthonormal, as Panther's `srht` has them; of others as `Unscaled`.
    Orthonormal,
}

/// A random operator $S \in R^{d \times n}$, as plain data: nothing is stored but what is seen here. The same kind,
/// shape and seed are the same entries, bit for bit, on every machine and device.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// use tilewise::sketch::{Sketch, SketchKind};
///
/// let s = Sketch::new(SketchKind::CountSketch, [4, 1000], 7)?;
/// assert_eq!(s.shape(), [4, 1000]);
/// let column: Vec<f32> = (0..4).map(|row| s.entry(row, 10)).collect();
/// assert_eq!(column.iter().map(|x| x.abs()).sum::<f32>(), 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sketch {
    kind: SketchKind,
    rows: usize,
    cols: usize,
    seed: u64,
    scaling: Scaling,
}

/// The lines of a sparse operator that are drawn one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sparse {
    /// Whether lines are columns or rows.
    pub(super) lines: Lines,
    /// Nonzeros of each.
    pub(super) nonzeros: u32,
    /// Places in each.
    pub(super) places: u32,
    pub(super) draw: Draw,
    /// The last word of the counter.
    pub(super) tag: u32,
}

/// What a line of a sparse operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lines {
    Columns,
    Rows,
}

/// How the places of a line are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Draw {
    /// All different, by Floyd's algorithm.
    Different,
    /// Each from all places.
    Any,
}

impl Sketch {
    /// The operator of `kind` with d rows and n columns: it makes d numbers of n.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no row or no column, if a Hadamard operator has more rows than columns, or a line
    /// has fewer places than nonzeros; [`Error::Input`] for no nonzero at all; [`Error::Limit`] beyond
    /// [`NONZEROS_AT_MOST`], for a Hadamard operator of more than [`HADAMARD_AT_MOST`] columns, and for sizes of
    /// $2^{31}$ or more.
    pub fn new(kind: SketchKind, [rows, cols]: [usize; 2], seed: u64) -> Result<Self> {
        call("Sketch::new", || {
            let shape = [rows, cols];
            let sketch = Self { kind, rows, cols, seed, scaling: Scaling::default() };
            if shape.contains(&0) {
                return Err(Error::shape(OP, "an operator must have rows and columns", &shape));
            }
            shape.into_iter().try_for_each(|extent| dim(OP, extent).map(|_| ()))?;
            if kind == SketchKind::Hadamard {
                if cols > HADAMARD_AT_MOST {
                    let (needed, allowed) = (cols as u64, HADAMARD_AT_MOST as u64);
                    let what = "the length of a Hadamard transform".into();
                    return Err(Error::Limit { op: OP, what, needed, allowed });
                }
                if rows > cols {
                    let rule = "a Hadamard operator has no more rows than columns";
                    return Err(Error::shape(OP, rule, &shape));
                }
            }
            if let Some((nonzeros, along, draw)) = sketch.nonzeros() {
                if nonzeros == 0 {
                    return Err(Error::input("sketch: nonzeros", "a line without any makes no operator"));
                }
                if nonzeros > NONZEROS_AT_MOST {
                    let (needed, allowed) = (nonzeros as u64, NONZEROS_AT_MOST as u64);
                    return Err(Error::Limit { op: OP, what: "nonzeros per line".into(), needed, allowed });
                }
                let places = if along == Lines::Columns { rows } else { cols };
                if draw == Draw::Different && nonzeros > places {
                    let rule = "a line must have as many places as nonzeros";
                    return Err(Error::shapes(OP, rule, &shape, &[nonzeros]));
                }
            }
            Ok(sketch)
        })
    }

    /// The same operator with its entries multiplied otherwise.
    #[must_use]
    pub fn scaled(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> SketchKind {
        self.kind
    }

    /// Rows d and columns n.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        [self.rows, self.cols]
    }

    /// Its seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What the integers, signs and fractions of the rule are multiplied by.
    pub(super) fn scale(&self) -> f64 {
        let (d, n) = (self.rows as f64, self.cols as f64);
        match (self.scaling, self.kind) {
            (Scaling::Orthonormal, SketchKind::Hadamard) => (1.0 / self.padded() as f64).sqrt(),
            (Scaling::Unscaled | Scaling::Orthonormal, _) => 1.0,
            (Scaling::Isometry, SketchKind::Uniform) => (3.0 / d).sqrt(),
            (Scaling::Isometry, _) => match self.sparse() {
                Some(Sparse { lines: Lines::Columns, nonzeros, .. }) => 1.0 / f64::from(nonzeros).sqrt(),
                Some(Sparse { lines: Lines::Rows, nonzeros, .. }) => (n / (d * f64::from(nonzeros))).sqrt(),
                None => 1.0 / d.sqrt(),
            },
        }
    }

    /// The last word of the counter: kinds have different words for the same seed. Never to change.
    pub(super) fn tag(&self) -> u32 {
        match self.kind {
            SketchKind::Gaussian => 1,
            SketchKind::Uniform => 2,
            SketchKind::Sign => 3,
            SketchKind::CountSketch => 4,
            SketchKind::Sjlt { .. } => 5,
            SketchKind::SparseSign { axis: SparseAxis::Short, .. } => 6,
            SketchKind::SparseSign { axis: SparseAxis::Long, .. } => 7,
            SketchKind::Hadamard => 8,
        }
    }

    /// Nonzeros of a line of a sparse operator, what its lines are, and how their places are drawn.
    fn nonzeros(&self) -> Option<(usize, Lines, Draw)> {
        let wide = self.rows <= self.cols;
        match self.kind {
            SketchKind::CountSketch => Some((1, Lines::Columns, Draw::Different)),
            SketchKind::Sjlt { nonzeros } => Some((nonzeros, Lines::Columns, Draw::Different)),
            SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros } => {
                Some((nonzeros, if wide { Lines::Columns } else { Lines::Rows }, Draw::Different))
            }
            SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros } => {
                Some((nonzeros, if wide { Lines::Rows } else { Lines::Columns }, Draw::Any))
            }
            _ => None,
        }
    }

    /// The lines of a sparse operator.
    pub(super) fn sparse(&self) -> Option<Sparse> {
        let (nonzeros, lines, draw) = self.nonzeros()?;
        let places = if lines == Lines::Columns { self.rows } else { self.cols };
        // NOTE: checked by `new`.
        let word = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        Some(Sparse { lines, nonzeros: word(nonzeros), places: word(places), draw, tag: self.tag() })
    }

    /// The length of a Hadamard transform: the next power of two.
    pub(super) fn padded(&self) -> usize {
        self.cols.next_power_of_two()
    }

    /// The entry in row i and column j, as f32: the rule's, times the scale in f32.
    ///
    /// # Panics
    /// If `row` or `col` is out of range.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "indices are checked, the scale is rounded once")]
    pub fn entry(&self, row: usize, col: usize) -> f32 {
        assert!(row < self.rows && col < self.cols, "[{row}, {col}] of {:?}", self.shape());
        self.unscaled(row as u32, col as u32) * self.scale() as f32
    }

    /// The rule: what is in row i and column j before it is scaled. Exact in f32.
    pub(super) fn unscaled(&self, i: u32, j: u32) -> f32 {
        let word = |counter| philox(self.seed, counter)[(i % 4) as usize];
        match self.kind {
            SketchKind::Gaussian => normal(word([i / 4, j, 0, self.tag()])) as f32 / normal::ONE,
            SketchKind::Uniform => uniform(word([i / 4, j, 0, self.tag()])),
            SketchKind::Sign => sign(word([i / 4, j / 32, 0, self.tag()]) >> (j % 32)),
            SketchKind::Hadamard => {
                let row = RowOrder::new(self).row(i);
                let parity = if (row & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                parity * sign(self.hadamard_word(j) >> (j % 32))
            }
            _ => {
                let Some(sparse) = self.sparse() else { return 0.0 };
                let (line, place) = if sparse.lines == Lines::Columns { (j, i) } else { (i, j) };
                let found = sparse.line(self.seed, line);
                found.into_iter().filter(|&(at, _)| at == place).map(|(_, sign)| sign).sum()
            }
        }
    }

    /// The word with the signs of the columns around j.
    pub(super) fn hadamard_word(&self, j: u32) -> u32 {
        philox(self.seed, [j / 128, 0, 0, self.tag()])[(j / 32 % 4) as usize]
    }

    /// All entries, row by row.
    ///
    /// # Panics
    /// Panics, or aborts the process, if the host cannot allocate that many f32.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f32> {
        let mut entries = vec![0.0; self.rows * self.cols];
        self.entries_from(0, &mut entries);
        entries
    }

    /// The entries from a place on, row by row. There must be so many.
    #[expect(clippy::cast_possible_truncation, reason = "sizes are checked, the scale is rounded once")]
    pub(crate) fn entries_from(&self, start: u64, entries: &mut [f32]) {
        if let Some(sparse) = self.sparse() {
            return self.nonzeros_from(&sparse, start, entries);
        }
        let (cols, scale) = (self.cols as u64, self.scale() as f32);
        let [mut i, mut j] = [start / cols, start % cols].map(|index| index as u32);
        for entry in entries {
            *entry = self.unscaled(i, j) * scale;
            j += 1;
            if u64::from(j) == cols {
                [i, j] = [i + 1, 0];
            }
        }
    }

    /// As [`entries_from`](Self::entries_from), of a sparse operator: the lines that may have entries there are drawn.
    #[expect(clippy::cast_possible_truncation, reason = "sizes are checked, the scale is rounded once")]
    fn nonzeros_from(&self, sparse: &Sparse, start: u64, entries: &mut [f32]) {
        let (cols, scale) = (self.cols as u64, self.scale() as f32);
        entries.fill(0.0);
        let end = start + entries.len() as u64;
        let (first, last) = (start / cols, end.div_ceil(cols));
        let lines = match sparse.lines {
            Lines::Rows => first..last,
            Lines::Columns if last - first == 1 => start - first * cols..end - first * cols,
            Lines::Columns => 0..cols,
        };
        for line in lines {
            for (place, sign) in sparse.line(self.seed, line as u32) {
                let place = u64::from(place);
                let (i, j) = if sparse.lines == Lines::Columns { (place, line) } else { (line, place) };
                let at = (i * cols + j).checked_sub(start).and_then(|at| usize::try_from(at).ok());
                if let Some(entry) = at.and_then(|at| entries.get_mut(at)) {
                    *entry += sign * scale;
                }
            }
        }
    }
}

impl Sparse {
    /// The places and signs of a line, in the order in which they are drawn.
    pub(super) fn line(&self, seed: u64, line: u32) -> Vec<(u32, f32)> {
        let mut drawn: Vec<(u32, f32)> = Vec::with_capacity(self.nonzeros as usize);
        for t in 0..self.nonzeros {
            let word = philox(seed, [line, t / 4, 0, self.tag])[(t % 4) as usize];
            let place = match self.draw {
                Draw::Any => below(word, self.places),
                Draw::Different => {
                    // Floyd: of the first so many places; one that is taken already gives way to the last of them.
                    let last = self.places - self.nonzeros + t;
                    let place = below(word, last + 1);
                    if drawn.iter().any(|&(taken, _)| taken == place) { last } else { place }
                }
            };
            drawn.push((place, sign(word)));
        }
        drawn
    }
}

/// 1 or -1, by the lowest bit.
fn sign(word: u32) -> f32 {
    if word & 1 == 0 { 1.0 } else { -1.0 }
}

/// The middle of one of $2^{24}$ parts of -1..1, by the upper bits.
fn uniform(word: u32) -> f32 {
    // Odd, and below 2^24 in magnitude: exact.
    ((word >> 8) as f32 * 2.0 - 16_777_215.0) / 16_777_216.0
}

#[cfg(test)]
mod tests {
    use super::{Sketch, SketchKind, SparseAxis};

    #[test]
    fn a_part_of_the_entries_is_what_the_whole_has_there() {
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
