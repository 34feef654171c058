//! The errors that are allowed, measured by rounding in the same places on a CPU.

use tilewise::DType;

/// The errors that are allowed of one type of activations.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    /// Of each entry of an embedding.
    pub(crate) entry: f64,
    /// Of the cosine of an embedding with the stored one, which is 1.
    pub(crate) cosine: f64,
    /// Of the outputs of layers, relative to the largest.
    pub(crate) layer: f64,
    /// Of results within a layer, relative to the largest.
    pub(crate) inner: f64,
    /// Sentences whose nearest is nearer than the second by no more than this may have another one.
    pub(crate) margin: f64,
}

impl Tolerance {
    /// The weights are the stored ones.
    pub(crate) fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 => Self { entry: 2e-6, cosine: 1e-11, layer: 1e-5, inner: 3e-5, margin: 0.0 },
            DType::F16 => Self { entry: 5e-4, cosine: 3e-6, layer: 3e-3, inner: 1e-2, margin: 0.0 },
            _ => Self { entry: 5e-3, cosine: 2e-4, layer: 2e-2, inner: 8e-2, margin: 0.008 },
        }
    }

    /// The weights are the published ones, of which the stored ones are rounded to f16.
    pub(crate) fn of_unrounded(dtype: DType) -> Self {
        let (own, rounded) = (Self::of(dtype), Self::of(DType::F16));
        Self {
            entry: own.entry + 3e-4,
            cosine: own.cosine + rounded.cosine,
            layer: own.layer + rounded.layer,
            inner: own.inner + rounded.inner,
            margin: own.margin,
        }
    }
}
