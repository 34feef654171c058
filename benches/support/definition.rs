//! The reference of a product in f64, computed once for all that is compared with it.

use tilewise::reference::{self, Comparison, GemmReference};
use tilewise::{Element, Precision};

/// The value of C before a check. No product of random operands comes near it, so an entry that is not written shows.
pub const POISON: f32 = 60_000.0;
/// Entries of a large product that are checked.
const ENTRIES: usize = 4096;

/// The reference of all entries of a product, or of some entries of a large one.
pub struct Definition {
    entries: GemmReference,
    /// Row and column of each entry, if not all of them are here.
    places: Option<Vec<[usize; 2]>>,
    columns: usize,
}

impl Definition {
    /// The product of `a` (m, k) and `b` (k, n), both row-major: every entry if that takes this number of multiply-adds at most.
    pub fn new<T: Element>(a: &[T], b: &[T], size: [usize; 3], most: u64) -> Self {
        let [m, columns, _] = size;
        let multiply_adds = size.iter().map(|&extent| extent as u128).product::<u128>();
        if multiply_adds <= most.into() {
            return Self { entries: reference::gemm(a, b, size), places: None, columns };
        }
        let places = places([m, columns]);
        Self { entries: reference::gemm_entries(a, b, size, &places), places: Some(places), columns }
    }

    /// That of products of f32 operands of this precision; by default they are strict.
    #[must_use]
    pub fn precision(&self, precision: Precision) -> Self {
        let (places, columns) = (self.places.clone(), self.columns);
        Self { entries: self.entries.clone().precision(precision), places, columns }
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

/// Places that are spread over all of C: multiples of the golden ratio, whose fractional parts fill an interval evenly.
fn places([rows, columns]: [usize; 2]) -> Vec<[usize; 2]> {
    let all = rows as u128 * columns as u128;
    let fraction = |i: usize| (i as u128 * 0x9e37_79b9_7f4a_7c15) % (1 << 64);
    let place =
        |i| usize::try_from((fraction(i) * all) >> 64).map_or([0, 0], |at| [at / columns, at % columns]);
    (0..ENTRIES).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewise::Fill;

    #[test]
    fn places_reach_every_part_of_the_product() {
        let places = places([64, 4096]);
        assert!(places.iter().all(|&[row, column]| row < 64 && column < 4096));
        for part in 0..64 {
            assert!(places.iter().any(|&[row, _]| row == part), "row {part}");
            assert!(places.iter().any(|&[_, column]| column / 64 == part), "column {part}");
        }
    }

    #[test]
    fn a_wrong_entry_is_found_and_a_right_product_passes() {
        let (a, b) = (Fill::Uniform.values::<f32>(80, 1), Fill::Uniform.values::<f32>(90, 2));
        let mut c = vec![0.0f32; 72];
        for (at, c) in c.iter_mut().enumerate() {
            *c = (0..10).map(|k| a[at / 9 * 10 + k] * b[k * 9 + at % 9]).sum();
        }
        for (most, check) in [(720, "full"), (719, "4096 entries")] {
            let definition = Definition::new(&a, &b, [8, 9, 10], most);
            assert_eq!(definition.check(), check);
            assert!(definition.compare(&c).ok());
            let wrong: Vec<f32> = c.iter().map(|c| c + 1e-3).collect();
            assert!(!definition.compare(&wrong).ok());
        }
    }
}
