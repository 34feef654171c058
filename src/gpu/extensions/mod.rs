//! Queries to a Vulkan driver that wgpu does not make. Data in, data out: nothing here depends on a
//! [`Gpu`](crate::Gpu).
#![cfg_attr(
    any(target_os = "linux", target_os = "windows", target_os = "android"),
    expect(
        unsafe_code,
        reason = "Vulkan's functions are unsafe; a comment at each call says why its conditions hold"
    )
)]

#[cfg(not(any(target_os = "linux", target_os = "windows", target_os = "android")))]
mod absent;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod asked;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod features;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod flexible;
mod matrices;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod rows;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod structs;
pub(super) mod vouched;

#[cfg(not(any(target_os = "linux", target_os = "windows", target_os = "android")))]
pub(super) use absent::{MatrixFeatures, matrices, matrix_features, not_created_with};
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
pub(super) use asked::{matrices, matrix_features, not_created_with};
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
pub(super) use features::{BFLOAT16, FLOAT8, MAINTENANCE1, MATRIX2, MatrixFeatures, STORAGE8};
pub(super) use matrices::ListedMatrices;
