//! A random operator: a kind, a shape and a seed.

use super::kind::{MAX_HADAMARD_LENGTH, MAX_NONZEROS, Scaling, SketchKind, SparseAxis};
use super::sparse_lines::{LineAxis, PositionDraw, SparseLines};
use crate::error::call;
use crate::layout::{dim, words};
use crate::{Error, Result};

/// The name of the operation in errors.
pub(in crate::sketch) const OP: &str = "sketch";

/// A random operator $S \in R^{d \times n}$ as plain data. It stores its kind, shape, seed and scaling, but no entries.
///
/// Two operators of the same kind, shape and seed have bit-identical entries on every machine and device.
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

impl Sketch {
    /// An operator of `kind` with d rows and n columns. It maps vectors of n elements to vectors of d.
    ///
    /// # Errors
    /// [`Error::Shape`] if the operator has no rows or no columns, if a Hadamard operator has more rows than columns,
    /// or if a line has fewer positions than nonzeros; [`Error::Input`] if the number of nonzeros is 0;
    /// [`Error::Limit`] if there are more than [`MAX_NONZEROS`] nonzeros per line, if a Hadamard operator has more than
    /// [`MAX_HADAMARD_LENGTH`] columns, or if a size is $2^{31}$ or more.
    pub fn new(kind: SketchKind, [rows, cols]: [usize; 2], seed: u64) -> Result<Self> {
        call("Sketch::new", || {
            let shape = [rows, cols];
            let sketch = Self { kind, rows, cols, seed, scaling: Scaling::default() };
            if shape.contains(&0) {
                return Err(Error::shape(OP, "an operator must have rows and columns", &shape));
            }
            shape.into_iter().try_for_each(|extent| dim(OP, extent).map(|_| ()))?;
            if kind == SketchKind::Hadamard {
                let what = "the length of a Hadamard transform";
                Error::check_limit(OP, what, cols as u64, MAX_HADAMARD_LENGTH as u64)?;
                if rows > cols {
                    let rule = "a Hadamard operator must have no more rows than columns";
                    return Err(Error::shape(OP, rule, &shape));
                }
            }
            if let Some((nonzeros, axis, positions)) = sketch.line_kind() {
                if nonzeros == 0 {
                    return Err(Error::input("sketch: nonzeros", "must be at least 1 per line; got 0"));
                }
                Error::check_limit(OP, "nonzeros per line", nonzeros as u64, MAX_NONZEROS as u64)?;
                let length = if axis == LineAxis::Columns { rows } else { cols };
                if positions == PositionDraw::Distinct && nonzeros > length {
                    let rule = "a line must have at least as many positions as nonzeros";
                    return Err(Error::shapes(OP, rule, &shape, &[nonzeros]));
                }
            }
            Ok(sketch)
        })
    }

    /// The same operator with another scaling of its entries.
    #[must_use]
    pub fn scaled(self, scaling: Scaling) -> Self {
        Self { scaling, ..self }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> SketchKind {
        self.kind
    }

    /// Rows d and columns n.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        [self.rows, self.cols]
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The factor that scales the unscaled entries.
    pub(in crate::sketch) fn scale(&self) -> f64 {
        let (d, n) = (self.rows as f64, self.cols as f64);
        match (self.scaling, self.kind) {
            (Scaling::Orthonormal, SketchKind::Hadamard) => (1.0 / self.padded() as f64).sqrt(),
            (Scaling::Unscaled | Scaling::Orthonormal, _) => 1.0,
            (Scaling::Isometry, SketchKind::Uniform) => (3.0 / d).sqrt(),
            (Scaling::Isometry, _) => match self.sparse_lines() {
                Some(SparseLines { axis: LineAxis::Columns, nonzeros, .. }) => {
                    1.0 / f64::from(nonzeros).sqrt()
                }
                Some(SparseLines { axis: LineAxis::Rows, nonzeros, .. }) => {
                    (n / (d * f64::from(nonzeros))).sqrt()
                }
                None => 1.0 / d.sqrt(),
            },
        }
    }

    /// The scale in f32.
    #[expect(clippy::cast_possible_truncation, reason = "the scale is rounded once")]
    pub(in crate::sketch) fn scale_f32(&self) -> f32 {
        self.scale() as f32
    }

    /// The two words of a seed as elements of a tensor, the low one first: see [`seeded_by`](Self::seeded_by).
    /// ```
    /// use tilewise::sketch::Sketch;
    ///
    /// assert_eq!(Sketch::seed_words(7), [7, 0]);
    /// assert_eq!(Sketch::seed_words(u64::MAX - 1), [-2, -1]);
    /// ```
    #[must_use]
    pub const fn seed_words(seed: u64) -> [i32; 2] {
        let [low, high] = words(seed);
        [low.cast_signed(), high.cast_signed()]
    }

    /// The last word of the Philox counter. Each kind has its own, so that kinds with the same seed use different
    /// random words. NOTE: these numbers must never change.
    pub(in crate::sketch) fn tag(&self) -> u32 {
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

    /// For a sparse operator: nonzeros per line, the axis of the lines, and how positions are drawn.
    fn line_kind(&self) -> Option<(usize, LineAxis, PositionDraw)> {
        let wide = self.rows <= self.cols;
        match self.kind {
            SketchKind::CountSketch => Some((1, LineAxis::Columns, PositionDraw::Distinct)),
            SketchKind::Sjlt { nonzeros } => Some((nonzeros, LineAxis::Columns, PositionDraw::Distinct)),
            SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros } => Some((
                nonzeros,
                if wide { LineAxis::Columns } else { LineAxis::Rows },
                PositionDraw::Distinct,
            )),
            SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros } => Some((
                nonzeros,
                if wide { LineAxis::Rows } else { LineAxis::Columns },
                PositionDraw::Independent,
            )),
            _ => None,
        }
    }

    /// The lines of a sparse operator.
    pub(in crate::sketch) fn sparse_lines(&self) -> Option<SparseLines> {
        let (nonzeros, axis, positions) = self.line_kind()?;
        let length = if axis == LineAxis::Columns { self.rows } else { self.cols };
        // NOTE: `new` has checked that sizes fit in a u32.
        let word = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        Some(SparseLines { axis, nonzeros: word(nonzeros), length: word(length), positions, tag: self.tag() })
    }

    /// Length of the Hadamard transform: the number of columns rounded up to a power of two.
    pub(in crate::sketch) fn padded(&self) -> usize {
        self.cols.next_power_of_two()
    }
}
