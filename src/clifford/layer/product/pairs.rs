//! The terms of a geometric product, grouped by the blade of the result and the path.

use crate::Result;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::path::Path;
use crate::clifford::algebra::product::Product;
use std::collections::BTreeMap;

/// A blade of the result, a path into its grade, and the terms of the path that end in the blade.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Position of the blade in the result.
    pub(super) blade: u32,
    /// Index of the path in [`Signature::paths`](crate::clifford::Signature::paths).
    pub(super) path: u32,
    /// The terms.
    pub(super) terms: Vec<PairTerm>,
}

/// A term: the positions of the blades in both operands, and the sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairTerm {
    pub(super) x: u8,
    pub(super) y: u8,
    pub(super) sign: i8,
}

/// The pairs of a product of multivectors with these blades, sorted by blade and then by path.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) for blades of different algebras, which cannot occur here.
pub(super) fn pairs(blades: &Blades) -> Result<Vec<Pair>> {
    let paths = blades.signature().paths();
    let terms = Product::Geometric.terms(blades, blades)?.select(blades)?;
    let mask = |place: u8| blades.masks()[usize::from(place)];
    let mut pairs: BTreeMap<(u32, u32), Vec<PairTerm>> = BTreeMap::new();
    for term in &terms.terms {
        let path = paths.binary_search(&Path::of(mask(term.x), mask(term.y)));
        // Every term belongs to a path, because it is not zero.
        let path = path.ok().and_then(|path| u32::try_from(path).ok()).unwrap_or_default();
        let group = pairs.entry((u32::from(term.out), path)).or_default();
        group.push(PairTerm { x: term.x, y: term.y, sign: term.sign });
    }
    Ok(pairs.into_iter().map(|((blade, path), terms)| Pair { blade, path, terms }).collect())
}

impl Pair {
    /// The terms in the encoding of [`Segment::Terms`](crate::gemm::Segment::Terms): 8 bits for each position, bit 31
    /// for the sign.
    pub(super) fn words(&self) -> Vec<u32> {
        let word =
            |term: &PairTerm| u32::from(term.x) | u32::from(term.y) << 8 | u32::from(term.sign < 0) << 31;
        self.terms.iter().map(word).collect()
    }
}
