//! The same functions for builds without Vulkan.

use super::matrices::ListedMatrices;
use crate::caps::MatrixExtensions;

/// No features.
#[derive(Default)]
pub(in crate::gpu) struct MatrixFeatures {}

impl MatrixFeatures {
    pub(in crate::gpu) fn extensions(&self) -> MatrixExtensions {
        MatrixExtensions::default()
    }
}

pub(in crate::gpu) fn matrices(_: &wgpu::Adapter, _: MatrixExtensions) -> Option<ListedMatrices> {
    None
}

pub(in crate::gpu) fn matrix_features(_: &wgpu::Adapter, _: wgpu::Features) -> MatrixFeatures {
    MatrixFeatures::default()
}

pub(in crate::gpu) fn not_created_with(_: &wgpu::Device, extensions: MatrixExtensions) -> Vec<&'static str> {
    extensions.named().into_iter().filter_map(|(name, has)| has.then_some(name)).collect()
}
