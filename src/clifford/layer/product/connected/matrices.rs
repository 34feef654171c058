//! The matrix products of a fully connected product and its backward pass, as plain data.
//!
//! The path sum $P_{c,p}$ is a matrix (row, feature): the sum of the terms of path p that end in blade c. There is one
//! for each pair of a blade and a path into its grade.

use super::super::pairs::{Pair, pairs};
use super::problem::{ConnectedProblem, OP};
use crate::Result;
use crate::clifford::layer::gate::Gate;
use crate::gemm::{GemmTypes, Segment, SegmentedProblem, SegmentedProduct, segment_table};
use crate::layout::{DType, Layout};

impl ConnectedProblem {
    /// The product: $o_{c} = \sum_{p} P_{c,p} W_{p}$, one matrix for each blade c.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn forward(&self) -> Result<SegmentedProblem> {
        let [blades, ..] = self.sizes();
        let ([x, y], gates) = (self.operands, self.gate_plane()?);
        let segmented = |[longest, words, total]: [usize; 3]| SegmentedProduct {
            batches: blades,
            longest,
            words,
            total,
            types: GemmTypes::new(self.dtype, self.result),
            a: x,
            y: Some(y),
            gates,
            b: self.weight,
        };
        self.summed(blades, |pair| pair.blade, |pair| pair.path, segmented)
    }

    /// The gradient of the weight, in f32: $\sum_{c} P_{c,p}^T g_{c}$, one matrix for each path p, from `g` (blade,
    /// row, out). Its plan takes the transposes of x, y and the gates.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn weight_gradient(&self, g: &Layout) -> Result<SegmentedProblem> {
        let paths = self.weight.shape()[0];
        let ([x, y], gates) = (self.operands.map(|operand| operand.t()), self.gate_plane()?.map(|of| of.t()));
        let segmented = |[longest, words, total]: [usize; 3]| SegmentedProduct {
            batches: paths,
            longest,
            words,
            total,
            types: GemmTypes::new(self.dtype, DType::F32),
            a: x,
            y: Some(y),
            gates,
            b: *g,
        };
        self.summed(paths, |pair| pair.path, |pair| pair.blade, segmented)
    }

    /// The gradients of the path sums, in f32: $T_{c,p} = g_{c} W_{p}^T$, one matrix for each pair, from `g` (blade,
    /// row, out) or some of its rows. Its plan takes the transpose of the weight.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn path_gradients(&self, g: &Layout) -> Result<SegmentedProblem> {
        let pairs = pairs(&self.blades)?;
        let matrices: Vec<_> =
            pairs.iter().map(|pair| vec![Segment::Planes(pair.blade, pair.path)]).collect();
        let table = segment_table(&matrices);
        let segmented = SegmentedProduct {
            batches: pairs.len(),
            longest: 1,
            words: table.len(),
            total: pairs.len(),
            types: GemmTypes::new(self.dtype, DType::F32),
            a: *g,
            y: None,
            gates: None,
            b: self.weight.t(),
        };
        Ok(SegmentedProblem { problem: segmented.problem()?, table })
    }

    /// The plane (row, feature) of the gates, if there are gates.
    fn gate_plane(&self) -> Result<Option<Layout>> {
        let [_, rows, inputs, _] = self.sizes();
        let plane = Layout::contiguous(OP, &[rows, inputs])?;
        Ok((self.product.gate != Gate::None).then_some(plane))
    }

    /// A product with `matrices` results. Each is summed over the pairs that `matrix` assigns to it; `plane` is the
    /// plane of B by which a pair is multiplied.
    fn summed(
        &self,
        matrices: usize,
        matrix: impl Fn(&Pair) -> u32,
        plane: impl Fn(&Pair) -> u32,
        segmented: impl Fn([usize; 3]) -> SegmentedProduct,
    ) -> Result<SegmentedProblem> {
        let pairs = pairs(&self.blades)?;
        let words: Vec<Vec<u32>> = pairs.iter().map(Pair::words).collect();
        let mut segments = vec![Vec::new(); matrices];
        for (pair, words) in pairs.iter().zip(&words) {
            segments[matrix(pair) as usize].push(Segment::Terms(words, plane(pair)));
        }
        let longest = segments.iter().map(Vec::len).max().unwrap_or_default();
        let table = segment_table(&segments);
        Ok(SegmentedProblem { problem: segmented([longest, table.len(), pairs.len()]).problem()?, table })
    }
}
