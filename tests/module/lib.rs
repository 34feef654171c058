//! The smallest program that multiplies in a browser. No test runs it: `.ci/sizes` weighs the module that it becomes.

#![cfg(target_arch = "wasm32")]

use tilewise::{Gpu, matmul};
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// The product of two matrices, (rows, inner) and (inner, columns).
///
/// # Errors
/// What the library says: no device, or extents that do not fit.
#[wasm_bindgen]
pub async fn multiply(a: Vec<f32>, b: Vec<f32>, inner: usize) -> Result<Vec<f32>, JsError> {
    let gpu = Gpu::open_async().await?;
    let [rows, columns] = [&a, &b].map(|matrix| matrix.len() / inner.max(1));
    let a = gpu.tensor(&a, [rows, inner])?;
    let b = gpu.tensor(&b, [inner, columns])?;
    Ok(matmul(&a, &b)?.read().await?)
}
