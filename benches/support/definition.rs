//! The reference of a product in f64, computed once for all tiles that are compared with it.

use support::splitmix;
use tilewise::Element;
use tilewise::reference::{self, Comparison, GemmReference};

/// Multiply-adds up to which every entry is checked.
const FULL_CHECK: f64 = (1u64 << 30) as f64;
/// Entries of a larger product that are checked, and the seed that draws them.
const ENTRIES: usize = 4096;
const SEED: u64 = 1;

/// The reference of all entries of a product, or of some entries of a large one.
pub struct Definition {
    entries: GemmReference,
    /// Row and column of each entry, if not all of them are here.
    places: Option<Vec<[usize; 2]>>,
    columns: usize,
}

impl Definition {
    /// The product of `a` (m, k) and `b` (k, n), both row-major.
    pub fn new<T: Element>(a: &[T], b: &[T], size: [usize; 3]) -> Self {
        let [m, columns, _] = size;
        if size.iter().map(|&extent| extent as f64).product::<f64>() <= FULL_CHECK {
            return Self { entries: reference::gemm(a, b, size), places: None, columns };
        }
        let mut random = splitmix(SEED);
        let mut below = |limit: usize| usize::try_from(random() % limit as u64).unwrap_or(0);
        let places: Vec<[usize; 2]> = (0..ENTRIES).map(|_| [below(m), below(columns)]).collect();
        Self { entries: reference::gemm_entries(a, b, size, &places), places: Some(places), columns }
    }

    /// Compares a row-major product with it.
    pub fn compare<C: Element>(&self, c: &[C]) -> Comparison {
        let Some(places) = &self.places else { return self.entries.compare(c) };
        let picked: Vec<C> = places.iter().map(|&[row, column]| c[row * self.columns + column]).collect();
        self.entries.compare(&picked)
    }

    /// Which entries are compared.
    pub fn check(&self) -> String {
        if self.places.is_none() { "full".into() } else { format!("{ENTRIES} entries") }
    }
}
