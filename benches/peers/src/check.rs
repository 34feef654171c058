//! The reference of a product in f64: of all entries, or of some entries of a large product.

use crate::case::Size;
use tilewise::Element;
use tilewise::reference::{self, Comparison, GemmReference};

/// Multiply-adds up to which every entry is checked.
const FULL_CHECK: f64 = (1u64 << 27) as f64;
/// Entries of a larger product that are checked.
const ENTRIES: usize = 4096;

/// The reference of a product.
pub(crate) struct Definition {
    entries: GemmReference,
    /// Row and column of each entry, if not all of them are here.
    places: Option<Vec<[usize; 2]>>,
    columns: usize,
}

impl Definition {
    /// The product of `a` (m, k) and `b` (k, n), both row-major.
    pub(crate) fn new<T: Element>(a: &[T], b: &[T], size: Size) -> Self {
        let columns = size.n;
        if size.flops() / 2.0 <= FULL_CHECK {
            return Self { entries: reference::gemm(a, b, size.array()), places: None, columns };
        }
        let places = places(size);
        let entries = reference::gemm_entries(a, b, size.array(), &places);
        Self { entries, places: Some(places), columns }
    }

    /// Compares a row-major product with it.
    pub(crate) fn compare<C: Element>(&self, c: &[C]) -> Comparison {
        let Some(places) = &self.places else { return self.entries.compare(c) };
        let picked: Vec<C> = places.iter().map(|&[row, column]| c[row * self.columns + column]).collect();
        self.entries.compare(&picked)
    }

    /// Which entries are compared.
    pub(crate) fn check(&self) -> String {
        self.places.as_ref().map_or_else(|| "full".into(), |places| format!("{} entries", places.len()))
    }
}

/// Places that are spread over all of C: multiples of the golden ratio, whose fractional parts fill an interval evenly.
fn places(size: Size) -> Vec<[usize; 2]> {
    let all = (size.m * size.n) as u128;
    let fraction = |i: usize| (i as u128 * 0x9e37_79b9_7f4a_7c15) % (1 << 64);
    let at = |i: usize| (fraction(i) * all) >> 64;
    let place = |i| usize::try_from(at(i)).map_or([0, 0], |at| [at / size.n, at % size.n]);
    (0..ENTRIES).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewise::Fill;

    #[test]
    fn places_reach_every_part_of_the_product() {
        let size = Size { m: 64, n: 4096, k: 1024 };
        let places = places(size);
        assert!(places.iter().all(|&[row, column]| row < size.m && column < size.n));
        for part in 0..64 {
            assert!(places.iter().any(|&[row, _]| row == part), "row {part}");
            assert!(places.iter().any(|&[_, column]| column / 64 == part), "column {part}");
        }
    }

    #[test]
    fn a_wrong_entry_is_found_and_a_right_product_passes() {
        let size = Size { m: 8, n: 9, k: 10 };
        let (a, b) = (Fill::Uniform.values::<f32>(80, 1), Fill::Uniform.values::<f32>(90, 2));
        let definition = Definition::new(&a, &b, size);
        let mut c = vec![0.0f32; 72];
        for (at, c) in c.iter_mut().enumerate() {
            *c = (0..10).map(|k| a[at / 9 * 10 + k] * b[k * 9 + at % 9]).sum();
        }
        assert!(definition.compare(&c).ok());
        assert_eq!(definition.check(), "full");
        c[40] += 1e-3;
        assert!(!definition.compare(&c).ok());
    }
}
