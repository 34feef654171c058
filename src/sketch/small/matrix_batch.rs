//! The matrices of a batch on the CPU: checked, and named in errors.

use crate::layout::{DType, Element, Real};
use crate::progress::Steps;
use crate::tensor::Tensor;
use crate::{Error, Result};
use faer::{Mat, MatRef};

/// The largest number of rows. Eigenvectors of 1024 rows take some seconds.
const MAX_ROWS: usize = 1024;

/// Matrices (rows, columns) of a batch, in f64. All entries are finite.
pub(super) struct MatrixBatch {
    op: &'static str,
    name: &'static str,
    /// The axes before those of a matrix.
    batch: Vec<usize>,
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    dtype: DType,
}

impl MatrixBatch {
    /// Reads square matrices (.., n, n), which errors call `matrix`.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the matrices are square; otherwise as [`of`](Self::of).
    pub(super) fn square<T: Real>(op: &'static str, a: &Tensor<T>) -> Result<Self> {
        match *a.shape() {
            [ref batch @ .., rows, columns] if rows == columns => Self::of(op, "matrix", a, batch, [rows; 2]),
            _ => Err(Error::shape(op, "the operand must be a square matrix, or a batch of them", a.shape())),
        }
    }

    /// Reads a batch of matrices of this shape.
    ///
    /// # Errors
    /// [`Error::Limit`] for more than [`MAX_ROWS`] rows; [`Error::Input`] if an entry is NaN or infinite.
    pub(super) fn of<T: Real>(
        op: &'static str,
        name: &'static str,
        a: &Tensor<T>,
        batch: &[usize],
        [rows, columns]: [usize; 2],
    ) -> Result<Self> {
        let what = format!("the number of rows of a {name} that the CPU factorises");
        Error::check_limit(op, &what, rows as u64, MAX_ROWS as u64)?;
        let values: Vec<f64> = a.to_vec()?.into_iter().map(T::to_f64).collect();
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let found = if values[at].is_nan() { "NaN".into() } else { values[at].to_string() };
            let why = format!("it is {found} at {:?}", index(a.shape(), at));
            return Err(Error::input(format!("{op}: the {name}"), why));
        }
        Ok(Self { op, name, batch: batch.to_vec(), rows, columns, values, dtype: T::DTYPE })
    }

    /// The number of matrices.
    pub(super) fn len(&self) -> usize {
        self.values.len() / (self.rows * self.columns).max(1)
    }

    /// A matrix by its number.
    pub(super) fn get(&self, at: usize) -> MatRef<'_, f64> {
        let size = self.rows * self.columns;
        MatRef::from_row_major_slice(&self.values[at * size..(at + 1) * size], self.rows, self.columns)
    }

    /// The error of a matrix.
    pub(super) fn error(&self, at: usize, why: String) -> Error {
        let of_batch = if self.batch.is_empty() {
            format!("the {}", self.name)
        } else {
            format!("{} {:?}", self.name, index(&self.batch, at))
        };
        Error::input(format!("{}: {of_batch}", self.op), why)
    }

    /// A matrix whose entries differ from those of its transpose by at most eight roundings of these magnitudes, made symmetric.
    ///
    /// # Errors
    /// [`Error::Input`] with two entries that differ by more.
    pub(super) fn symmetric(&self, at: usize, magnitude: impl Fn(usize, usize) -> f64) -> Result<Mat<f64>> {
        let a = self.get(at);
        let significant = match self.dtype {
            DType::F16 => 11,
            DType::Bf16 => 8,
            _ => 24,
        };
        let share = f64::powi(2.0, 3 - significant);
        for (i, j) in (0..self.rows).flat_map(|i| (0..i).map(move |j| (i, j))) {
            if (a[(i, j)] - a[(j, i)]).abs() > share * magnitude(i, j) {
                let [below, above] = [a[(i, j)], a[(j, i)]];
                let why = format!("it is not symmetric: {below} at [{i}, {j}] and {above} at [{j}, {i}]");
                return Err(self.error(at, why));
            }
        }
        Ok(Mat::from_fn(self.rows, self.rows, |i, j| 0.5 * (a[(i, j)] + a[(j, i)])))
    }

    /// Calls `factorise` with the number of each matrix, and reports progress.
    ///
    /// # Errors
    /// [`Error::Cancelled`] in [`with_progress`](crate::with_progress); those of the calls.
    pub(super) fn each(&self, mut factorise: impl FnMut(usize) -> Result<()>) -> Result<()> {
        let steps = Steps::of(self.op, self.len());
        for at in 0..self.len() {
            steps.at(at, format_args!("matrix {} of {}", at + 1, self.len()))?;
            factorise(at)?;
        }
        steps.end()
    }
}

/// Appends a matrix, row-major and rounded to the type.
pub(super) fn append<T: Element>(to: &mut Vec<T>, a: MatRef<'_, f64>) {
    to.extend((0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| T::from_f64(a[(i, j)]))));
}

/// The index of a row-major element.
fn index(shape: &[usize], at: usize) -> Vec<usize> {
    let mut rest = at;
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let here = rest % extent;
            rest /= extent;
            here
        })
        .collect();
    index.reverse();
    index
}
