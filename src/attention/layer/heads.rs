//! The division of the rows of projections among heads.

use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// No device allows a tensor with more features than this, so the numbers of rows do not overflow.
const MOST_FEATURES: usize = i32::MAX as usize;

/// Checks a number of features.
pub(super) fn check_features(op: &'static str, what: &str, features: usize) -> Result<()> {
    Error::check_limit(op, what, features as u64, MOST_FEATURES as u64)
}

/// The sizes of a layer's heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadSizes {
    pub(super) embed: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
}

impl HeadSizes {
    /// Checks that heads divide the embedding, and key heads the heads.
    pub(super) fn check(self, op: &'static str) -> Result<Self> {
        let Self { embed, heads, kv_heads } = self;
        if heads == 0 || embed == 0 || !embed.is_multiple_of(heads) {
            let why =
                format!("their number must divide that of the embedding's elements, {embed}; it is {heads}");
            return Err(Error::input(format!("{op}: the heads"), why));
        }
        if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            let why = format!("their number must divide that of the heads, {heads}; it is {kv_heads}");
            return Err(Error::input(format!("{op}: the key heads"), why));
        }
        check_features(op, "the number of features", embed)?;
        Ok(self)
    }

    /// The elements of a head.
    pub(super) fn dim(self) -> usize {
        self.embed / self.heads
    }

    /// The rows of the stacked weight: those of the queries, the keys and the values.
    pub(super) fn rows(self) -> usize {
        self.embed + 2 * self.kv_heads * self.dim()
    }

    /// Projections (batch, length, rows) as heads (batch, head, length, dim); a view.
    pub(super) fn of<T: Real>(self, projections: &Tensor<T>) -> Result<Tensor<T>> {
        let &[batch, length, rows] = projections.shape() else {
            return Err(Error::shape(
                "MultiHeadAttention",
                "projections have three axes",
                projections.shape(),
            ));
        };
        projections.reshape([batch, length, rows / self.dim(), self.dim()])?.permute(&[0, 2, 1, 3])
    }
}
