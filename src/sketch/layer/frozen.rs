//! The frozen factors U of a sketched layer: explicit tensors, or signs from a seed.

use crate::Result;
use crate::sketch::operator::{Scaling, Sketch, SketchKind};

/// The frozen factors of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frozen {
    /// Stored tensors with any entries.
    Explicit,
    /// Signs of this seed, divided by the root of the rank.
    Signs { seed: u64, storage: SignStorage },
}

/// The storage of the signs of frozen factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignStorage {
    /// In memory, next to S.
    Stored,
    /// Not stored: the kernels generate them from the seed while they multiply. The layer takes half the memory.
    Generated,
}

/// The signs of U1, (TR, out). `inner` is TR.
pub(super) fn signs_of_u1(seed: u64, inner: usize, outputs: usize) -> Result<Sketch> {
    Ok(Sketch::new(SketchKind::Sign, [inner, outputs], seed)?.scaled(Scaling::Unscaled))
}

/// The signs of U2 transposed, (TR, in). `inner` is TR. NOTE: they have another seed, so that U1 and U2 are
/// independent.
pub(super) fn signs_of_u2(seed: u64, inner: usize, inputs: usize) -> Result<Sketch> {
    Ok(Sketch::new(SketchKind::Sign, [inner, inputs], !seed)?.scaled(Scaling::Unscaled))
}
