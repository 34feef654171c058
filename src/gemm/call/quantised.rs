//! Options of products of types of 8 bits: scales; and for i8 the type of the result.

use super::builder::Gemm;
use super::product::ProductCall;
use crate::layout::{Element, Quantised};
use crate::tensor::Tensor;
use std::marker::PhantomData;

/// Scales of products of types of 8 bits, i8, e4m3 and e5m2, for quantised inference. With the sums $s\_{ij}$, exact in i32 for i8
/// and in f32 for the others, the result is
/// $$ y\_{ij} = \mathrm{activation}(\alpha\\,r_{i}\\,c_{j}\\,s\_{ij} + \mathrm{bias}) + \mathrm{residual}, $$
/// computed in f32 in the same launch, and stored as f32, f16 or bf16; that of i8 may be requantised to i8:
/// [`out`](Self::out) names the type. $\beta C$ is added before the activation, if it is set.
///
/// # Precision
/// [`reference::QuantisedReference`](crate::reference::QuantisedReference): sums of i8 are rounded once to f32, which is exact up
/// to $2^{24}$, those of other types are within the bound of [`matmul`](crate::matmul), and every multiplication and addition
/// rounds once more. Numbers below $2^{-126}$ may be taken as 0. Factors are multiplied one after another, the sum by $r_{i}$
/// first, but compilers may reorder them; so if a product of two of $\alpha$, $r_{i}$ and $c_{j}$ leaves the range of f32, the
/// result may be 0, infinite or NaN. A scaled sum that leaves the range is infinite.
impl<'a, T: Quantised, C: Element> Gemm<'a, T, C> {
    /// Multiplies the sums of each row by its scale: `scale` (m), the same for every matrix of the batch. These are the scales of
    /// A's rows, such as those of tokens.
    ///
    /// # Shapes
    /// A vector of m elements, with any stride.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # use tilewise::Gemm;
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let a = gpu.tensor(&[100i8, -20, 30, 40], [2, 2])?;
    /// let b = gpu.tensor(&[1i8, 2, 3, 4], [2, 2])?;
    /// let (rows, columns) = (gpu.tensor(&[0.5f32, 0.25], [2])?, gpu.tensor(&[2.0f32, 1.0], [2])?);
    /// let y = Gemm::new(&a, &b).row_scale(&rows).column_scale(&columns).out::<f32>().run()?;
    /// assert_eq!(y.to_vec()?, [40.0, 60.0, 75.0, 55.0]); // of the sums [40, 120, 150, 220]
    /// # Ok(())
    /// # }
    /// ```
    pub fn row_scale(self, scale: &'a Tensor<f32>) -> Self {
        Self { product: ProductCall { row_scale: Some(scale.as_view()), ..self.product }, ..self }
    }

    /// Multiplies the sums of each column by its scale: `scale` (n), the same for every matrix of the batch. These are the scales
    /// of B's columns, such as those of output channels.
    ///
    /// # Shapes
    /// A vector of n elements, with any stride.
    pub fn column_scale(self, scale: &'a Tensor<f32>) -> Self {
        Self { product: ProductCall { column_scale: Some(scale.as_view()), ..self.product }, ..self }
    }
}

/// Options of products of i8. Without [`out`](Self::out) the result is the sums, and the other options are an error.
impl<'a, C: Element> Gemm<'a, i8, C> {
    /// Sets the element type of the result: `f32`, `f16` or `bf16`, or `i8`, which is requantised by
    /// [`out_scale`](Self::out_scale).
    pub fn out<U: Element>(self) -> Gemm<'a, i8, U> {
        Gemm { product: self.product, types: PhantomData }
    }

    /// Sets the scale of a result of i8, which is 1 unless it is set: an element $q$ stands for the number $q$ times `scale`.
    /// $q$ is the integer from -128 to 127 that is nearest to $y$ / `scale`, ties to even. On every device $q$ is computed
    /// from the exact quotient of the two numbers of f32, not from a product with the reciprocal. NaN becomes 0.
    ///
    /// # Errors
    /// `plan`, `run` and `run_into` return [`Error::Input`](crate::Error::Input) for a scale that is 0, negative, infinite or
    /// NaN, and for a result of another type.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # use tilewise::Gemm;
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let a = gpu.tensor(&[3i8, -5, 90, 127], [2, 2])?;
    /// let b = gpu.tensor(&[1i8, 0, 0, 2], [2, 2])?;
    /// let q = Gemm::new(&a, &b).out::<i8>().out_scale(2.0).run()?;
    /// assert_eq!(q.to_vec()?, [2, -5, 45, 127]); // of the sums [3, -10, 90, 254]
    /// # Ok(())
    /// # }
    /// ```
    pub fn out_scale(self, scale: f32) -> Self {
        Self { product: ProductCall { out_scale: Some(scale), ..self.product }, ..self }
    }
}
