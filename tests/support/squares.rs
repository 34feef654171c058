//! Small square matrices of integers.

use tilewise::{Element, Fill, Gpu, Tensor, reference};

pub const SIZE: usize = 8;

pub fn data(seed: u64) -> Vec<f32> {
    Fill::Integers.values(SIZE * SIZE, seed)
}

pub fn tensor(gpu: &Gpu, seed: u64) -> Tensor<f32> {
    gpu.tensor(&data(seed), [SIZE; 2]).unwrap()
}

pub fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    reference::gemm(a, b, [SIZE; 3]).value.into_iter().map(f32::from_f64).collect()
}
