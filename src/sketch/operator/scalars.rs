//! The numbers that a launch takes from an operator: its seed and its scale.

use super::philox::words;
use super::sketch::Sketch;
use crate::plan::{Scalar, ScalarParameter};

/// The scalars of an operator's launch, in the order of [`scalars`].
pub(in crate::sketch) const SCALARS: [ScalarParameter; 3] =
    [ScalarParameter::u32("seed_low"), ScalarParameter::u32("seed_high"), ScalarParameter::f32("scale")];

/// The values of [`SCALARS`] for this operator.
pub(in crate::sketch) fn scalars(sketch: &Sketch) -> [Scalar; 3] {
    let [low, high] = words(sketch.seed()).map(Scalar::from);
    [low, high, scale(sketch).into()]
}

/// The operator's scale in f32.
pub(in crate::sketch) fn scale(sketch: &Sketch) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "the scale is rounded once")]
    let scale = sketch.scale() as f32;
    scale
}
