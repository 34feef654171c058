//! New parameters of layers, with the distributions of `PyTorch`.

use crate::Result;
use crate::gemm::Linear;
use crate::gpu::Gpu;
use crate::layout::Real;
use crate::ops::Activation;
use crate::tensor::Tensor;

/// Ones.
pub(super) fn ones<T: Real>(gpu: &Gpu, op: &'static str, shape: &[usize]) -> Result<Tensor<T>> {
    gpu.filled(op, shape, |_, elements: &mut [T]| elements.fill(T::from_f64(1.0)))
}

/// The bound of Xavier's uniform distribution for a weight (out, in).
pub(super) fn xavier_bound([outputs, inputs]: [usize; 2]) -> f64 {
    (6.0 / (inputs as f64 + outputs as f64)).sqrt()
}

/// The seed of a part of a layer.
pub(super) fn part_seed(seed: u64, part: u64) -> u64 {
    seed.wrapping_mul(8).wrapping_add(part)
}

/// The layer with parameters of another type.
pub(super) fn cast<T: Real, P: Real>(linear: &Linear<T>, activation: Activation) -> Result<Linear<P>> {
    let bias = linear.bias().map(Tensor::cast).transpose()?;
    Linear::new(linear.weight().cast()?, bias, activation)
}
