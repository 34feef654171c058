//! Work whose bits two devices share.

use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::gemm::GemmKernel;
use tilewise::{Fill, Gemm, Gpu, Real, Result, Tensor};

pub(crate) type Work = fn(&Gpu) -> Result<Vec<f32>>;

pub(crate) fn random<T: Real>(gpu: &Gpu, shape: [usize; 2], seed: u64) -> Tensor<T> {
    gpu.random(shape, Fill::Uniform, seed).unwrap()
}

/// Edges in every direction, so that kernels meet the end of their buffers.
pub(crate) fn product<T: Real>(gpu: &Gpu, kernel: GemmKernel) -> Result<Vec<f32>> {
    let (a, b) = (random::<T>(gpu, [37, 41], 1), random::<T>(gpu, [41, 29], 2));
    Gemm::new(&a, &b).kernel(kernel).run()?.to_vec()
}

pub(crate) fn multivectors(gpu: &Gpu) -> Result<Vec<f32>> {
    let blades = Signature::CL3.blades();
    let operand = |seed| {
        let tensor = gpu.random::<f32>([blades.len(), 7, 5], Fill::Uniform, seed)?;
        Multivectors::new(tensor, &blades, BladeAxis::First)
    };
    operand(1)?.geometric(&operand(2)?)?.into_tensor().to_vec()
}
