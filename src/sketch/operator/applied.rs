//! An operator to be applied: with its own seed, or with the seed in a tensor.

use super::sketch::Sketch;
use crate::Result;
use crate::gemm::SeedSource;
use crate::gpu::View;
use crate::layout::{Real, words};
use crate::plan::{Scalar, ScalarParameter};
use crate::tensor::Tensor;

/// The factor of an operator's entries, which a launch takes as a number.
pub(in crate::sketch) const SCALE: ScalarParameter = ScalarParameter::f32("scale");

/// An operator to be applied.
#[derive(Clone, Copy)]
pub(in crate::sketch) struct Applied<'a> {
    pub(in crate::sketch) sketch: &'a Sketch,
    /// The tensor that holds the seed. Without one, the seed is that of the sketch.
    pub(in crate::sketch) seed: Option<&'a Tensor<i32>>,
}

impl<'a> Applied<'a> {
    /// The source of the seed.
    pub(in crate::sketch) fn source(self) -> Result<SeedSource> {
        self.seed.map_or(Ok(SeedSource::Scalars), |seed| SeedSource::tensor(seed.layout()))
    }

    /// The operands that its kernels read.
    pub(in crate::sketch) fn inputs<T: Real>(self, x: &'a Tensor<T>) -> Vec<View<'a>> {
        [x.view()].into_iter().chain(self.seed.map(Tensor::view)).collect()
    }
}

impl Sketch {
    /// The scalars of a launch for this source of the seed: the seed, unless a tensor holds it, and the scale.
    pub(in crate::sketch) fn scalars(seed: SeedSource) -> Vec<ScalarParameter> {
        seed.scalars().iter().copied().chain([SCALE]).collect()
    }

    /// The values of these numbers.
    pub(in crate::sketch) fn numbers(&self, seed: SeedSource) -> Vec<Scalar> {
        seed.numbers(words(self.seed())).into_iter().chain([self.scale_f32().into()]).collect()
    }
}
