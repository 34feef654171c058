//! The matrix products of a fully connected layer, as plain data: what each is summed over.
//!
//! A matrix $P_{c,p}$ has the sums of the terms of path p that end in blade c, row by row. There is one for each pair of a
//! blade and a path into its grade.

use super::problem::ConnectedProblem;
use crate::Result;
use crate::clifford::layer::Gate;
use crate::clifford::{Path, Product};
use crate::gemm::{GemmTypes, Planes, Segment, Segmented, SegmentedProblem, segment_table};
use crate::layout::{DType, Layout};
use std::collections::BTreeMap;

/// A blade of the result, a path into its grade, and the terms of the path that end there.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) blade: u32,
    pub(super) path: u32,
    pub(super) terms: Vec<PairTerm>,
}

/// The places of both operands' blades and the sign of a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairTerm {
    pub(super) x: u8,
    pub(super) y: u8,
    pub(super) sign: i8,
}

impl ConnectedProblem {
    /// The matrices $P_{c,p}$, by blade and then by path.
    ///
    /// # Errors
    /// Of blades that are not of the algebra: none that the problem has.
    pub(super) fn pairs(&self) -> Result<Vec<Pair>> {
        let (blades, paths) = (&self.blades, self.product.signature.paths());
        let terms = Product::Geometric.terms(blades, blades)?.select(blades)?;
        let mask = |place: u8| blades.masks()[usize::from(place)];
        let mut pairs: BTreeMap<(u32, u32), Vec<PairTerm>> = BTreeMap::new();
        for term in &terms.terms {
            let path = paths.binary_search(&Path::of(mask(term.x), mask(term.y)));
            // Every term is of a path: it is not zero.
            let path = path.ok().and_then(|path| u32::try_from(path).ok()).unwrap_or_default();
            let of = pairs.entry((u32::from(term.out), path)).or_default();
            of.push(PairTerm { x: term.x, y: term.y, sign: term.sign });
        }
        Ok(pairs.into_iter().map(|((blade, path), terms)| Pair { blade, path, terms }).collect())
    }

    /// The product: $o_{c} = \sum_{p} P_{c,p} W_{p}$, a matrix for each blade c.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn forward(&self) -> Result<SegmentedProblem> {
        let [blades, rows, inputs, outputs] = self.sizes();
        let gates = (self.product.gate != Gate::None).then_some([inputs, 1]);
        let segmented = |[longest, words, total]: [usize; 3]| {
            Ok(Segmented {
                shape: [rows, outputs, inputs],
                batches: blades,
                longest,
                words,
                total,
                types: GemmTypes::new(self.dtype, self.result),
                a: Planes::of(&self.operands[0], [1, 2], self.dtype)?,
                y: Some(Planes::of(&self.operands[1], [1, 2], self.dtype)?),
                gates,
                b: Planes::of(&self.weight, [2, 1], self.dtype)?,
            })
        };
        self.summed(blades, |pair| pair.blade, |pair| pair.path, segmented)
    }

    /// The gradient of the weight: $\sum_{c} P_{c,p}^T g_{c}$, a matrix for each path p, of `g` (blade, row, out). In f32.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn of_weight(&self, g: &Layout) -> Result<SegmentedProblem> {
        let [_, rows, inputs, outputs] = self.sizes();
        let paths = self.weight.shape()[0];
        let gates = (self.product.gate != Gate::None).then_some([1, inputs]);
        let segmented = |[longest, words, total]: [usize; 3]| {
            Ok(Segmented {
                shape: [inputs, outputs, rows],
                batches: paths,
                longest,
                words,
                total,
                types: GemmTypes::new(self.dtype, DType::F32),
                a: Planes::of(&self.operands[0], [2, 1], self.dtype)?,
                y: Some(Planes::of(&self.operands[1], [2, 1], self.dtype)?),
                gates,
                b: Planes::of(g, [2, 1], self.dtype)?,
            })
        };
        self.summed(paths, |pair| pair.path, |pair| pair.blade, segmented)
    }

    /// What comes back through the weights: $T_{c,p} = g_{c} W_{p}^T$, a matrix for each pair, of `g` (blade, row, out), or
    /// some rows of it. In f32.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn through(&self, g: &Layout) -> Result<SegmentedProblem> {
        let [_, _, inputs, outputs] = self.sizes();
        let pairs = self.pairs()?;
        let matrices: Vec<_> =
            pairs.iter().map(|pair| vec![Segment::Planes(pair.blade, pair.path)]).collect();
        let table = segment_table(&matrices);
        let segmented = Segmented {
            shape: [g.shape()[1], inputs, outputs],
            batches: pairs.len(),
            longest: 1,
            words: table.len(),
            total: pairs.len(),
            types: GemmTypes::new(self.dtype, DType::F32),
            a: Planes::of(g, [1, 2], self.dtype)?,
            y: None,
            gates: None,
            b: Planes::of(&self.weight, [1, 2], self.dtype)?,
        };
        Ok(SegmentedProblem { problem: segmented.problem()?, table })
    }

    /// A product of so many matrices, each summed over its pairs, whose planes of B those are.
    fn summed(
        &self,
        matrices: usize,
        matrix: impl Fn(&Pair) -> u32,
        plane: impl Fn(&Pair) -> u32,
        segmented: impl Fn([usize; 3]) -> Result<Segmented>,
    ) -> Result<SegmentedProblem> {
        let pairs = self.pairs()?;
        let words: Vec<Vec<u32>> = pairs.iter().map(Pair::words).collect();
        let mut segments = vec![Vec::new(); matrices];
        for (pair, words) in pairs.iter().zip(&words) {
            segments[matrix(pair) as usize].push(Segment::Terms(words, plane(pair)));
        }
        let longest = segments.iter().map(Vec::len).max().unwrap_or_default();
        let table = segment_table(&segments);
        Ok(SegmentedProblem { problem: segmented([longest, table.len(), pairs.len()])?.problem()?, table })
    }
}

impl Pair {
    /// The terms as [`Segment::Terms`] has them.
    fn words(&self) -> Vec<u32> {
        let word =
            |term: &PairTerm| u32::from(term.x) | u32::from(term.y) << 8 | u32::from(term.sign < 0) << 31;
        self.terms.iter().map(word).collect()
    }
}
