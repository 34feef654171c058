//! The scalars that a plan leaves open and each call supplies.

use super::epilogue::Scale;
use super::gemm::GemmProblem;
use super::generated::Generated;
use super::seed::{SEED_LOW, SeedSource};
use crate::plan::{Scalar, ScalarParameter};

pub(in crate::gemm) const ALPHA: ScalarParameter = ScalarParameter::f32("alpha");
pub(in crate::gemm) const BETA: ScalarParameter = ScalarParameter::f32("beta");
pub(in crate::gemm) const OUT_SCALE: ScalarParameter = ScalarParameter::f32("out_scale");

/// The numbers of the epilogue that a call may supply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) alpha: f32,
    pub(crate) beta: f32,
    pub(crate) out_scale: f32,
}

impl GemmProblem {
    /// The scalars of a call: alpha unless it is 1, beta unless it is 0, the scale of a result of i8, and the seed of a generated operand unless a tensor
    /// holds it.
    pub(crate) fn scalars(&self) -> Vec<ScalarParameter> {
        let alpha = (self.epilogue.scale == Scale::Alpha).then_some(ALPHA);
        let beta = self.epilogue.adds_previous().then_some(BETA);
        let out_scale = self.is_requantised().then_some(OUT_SCALE);
        let seed = match self.generated {
            Some(Generated::Operand(generated)) => generated.seed.scalars(),
            Some(Generated::SignHalf(_)) => SeedSource::Scalars.scalars(),
            Some(Generated::Segments(_) | Generated::Windows(_)) | None => &[],
        };
        [alpha, beta, out_scale].into_iter().flatten().chain(seed.iter().copied()).collect()
    }

    /// The values of these scalars, in the same order.
    pub(crate) fn numbers(&self, numbers: Numbers, [low, high]: [u32; 2]) -> Vec<Scalar> {
        let number = |scalar: ScalarParameter| match scalar {
            ALPHA => numbers.alpha.into(),
            BETA => numbers.beta.into(),
            OUT_SCALE => numbers.out_scale.into(),
            SEED_LOW => low.into(),
            _ => high.into(),
        };
        self.scalars().into_iter().map(number).collect()
    }
}
