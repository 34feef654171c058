//! Random tensors.

use super::problem::{NormalProblem, OP};
use crate::Result;
use crate::error::call;
use crate::gpu::Gpu;
use crate::layout::{Element, Fill, Layout, words};
use crate::plan::Scalar;
use crate::tensor::Tensor;

impl Gpu {
    /// Creates a tensor of random values. Element $i$ depends only on the seed and $i$: it has the bits of value $i$ of
    /// [`Fill::values`].
    ///
    /// Normal reals are generated on the device, by one launch without an upload. This also works in the closure of
    /// [`capture`](Self::capture). Other values are generated on the host and uploaded.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    ///
    /// let weight = gpu.random::<f32>([64, 32], Fill::Normal, 1)?;
    /// assert_eq!(weight.to_vec()?, Fill::Normal.values::<f32>(64 * 32, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn random<T: Element>(&self, shape: impl AsRef<[usize]>, fill: Fill, seed: u64) -> Result<Tensor<T>> {
        let shape = shape.as_ref();
        if fill == Fill::Normal && T::DTYPE.is_real() {
            return call(OP, || normal(self, shape, seed));
        }
        self.filled(OP, shape, |start, elements| {
            for (i, element) in (start..).zip(elements) {
                *element = fill.value(i, seed);
            }
        })
    }
}

/// Standard normal numbers, made on the device.
fn normal<T: Element>(gpu: &Gpu, shape: &[usize], seed: u64) -> Result<Tensor<T>> {
    let layout = Layout::contiguous(OP, shape)?;
    if layout.is_empty() {
        return gpu.empty(shape);
    }
    let problem = NormalProblem::new(layout.len(), T::DTYPE)?;
    Tensor::computed(gpu, &problem, &[], &words(seed).map(Scalar::U32), shape)
}
