//! Which entries of a result are compared with the definition in f64.

use support::splitmix;

/// Multiply-adds up to which every entry is compared.
pub(crate) const FULL_CHECK: u64 = 1 << 28;
/// Rows and columns of a larger result that are compared, at most, and the seed that draws them.
const SAMPLED: usize = 64;
const SEED: u64 = 1;

/// Some rows and some columns of a result: their entries are compared.
pub(crate) struct Sample {
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    /// `full`, or the number of entries.
    pub(crate) name: String,
}

impl Sample {
    /// All entries if the definition takes few multiply-adds, `each` for an entry, or else some.
    pub(crate) fn new([rows, columns]: [usize; 2], each: usize) -> Self {
        let all = [rows, columns, each].into_iter().map(|extent| extent as u64).fold(1, u64::saturating_mul);
        if all <= FULL_CHECK {
            return Self { rows: (0..rows).collect(), columns: (0..columns).collect(), name: "full".into() };
        }
        let mut random = splitmix(SEED);
        let mut drawn = |count: usize| -> Vec<usize> {
            if count <= SAMPLED {
                return (0..count).collect();
            }
            let below = |word: u64| usize::try_from(word % count as u64).unwrap_or(0);
            (0..SAMPLED).map(|_| below(random())).collect()
        };
        let (rows, columns) = (drawn(rows), drawn(columns));
        let name = format!("{} entries", rows.len() * columns.len());
        Self { rows, columns, name }
    }

    /// The sampled rows of a row-major matrix of this many columns.
    pub(crate) fn rows_of<T: Copy>(&self, matrix: &[T], width: usize) -> Vec<T> {
        self.rows.iter().flat_map(|&row| &matrix[row * width..][..width]).copied().collect()
    }

    /// The sampled columns of a row-major matrix of this many columns.
    pub(crate) fn columns_of<T: Copy>(&self, matrix: &[T], width: usize) -> Vec<T> {
        matrix.chunks(width).flat_map(|row| self.columns.iter().map(|&column| row[column])).collect()
    }

    /// The sampled entries of a row-major result of this many columns.
    pub(crate) fn entries_of<T: Copy>(&self, result: &[T], width: usize) -> Vec<T> {
        let row = |&row: &usize| self.columns.iter().map(move |&column| result[row * width + column]);
        self.rows.iter().flat_map(row).collect()
    }
}
