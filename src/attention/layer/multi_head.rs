//! Multi-head attention: its parameters and sizes.

use super::heads::HeadSizes;
use crate::Result;
use crate::error::call;
use crate::gemm::Linear;
use crate::layout::Real;
use crate::ops::training::{ParameterMut, Parameters};
use crate::ops::{Activation, Rotary};
use crate::tensor::Tensor;

/// The layer's name in errors.
pub(super) const OP: &str = "MultiHeadAttention";
/// What stands before the names of the parameters of the two maps.
pub(super) const IN_PROJ: &str = "in_proj_";
pub(super) const OUT_PROJ: &str = "out_proj.";

/// Attention with its projections, as `torch.nn.MultiheadAttention` with `batch_first`: queries, keys and values are linear maps of
/// the operands, and the results of all heads are mapped once more.
///
/// With $e$ features and $H$ heads of $d = e / H$ elements, `in_proj_weight` has $e$ rows for the queries, then those of the keys, then
/// those of the values. There may be fewer key heads than heads (grouped-query attention): then keys and values have $d$ rows for each key
/// head. `in_proj_bias` has an element for each row. `out_proj.weight` is (e, e), `out_proj.bias` (e).
/// [`AttentionOptions`](crate::attention::AttentionOptions) has the masks and the scale.
///
/// # Launches
/// At most four, or five with a [`Rotary`]: one product for all projections, the rotation of queries and keys, the attention (two
/// launches if there are few queries and many keys), and the product of the results, with bias. Long sums of few rows (split-k)
/// take one more launch. Nothing is copied: heads are views.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::attention::{AttentionOptions, CausalFrom, MultiHeadAttention};
///
/// let layer = MultiHeadAttention::<f32>::builder(64, 4).seed(1).random(&gpu)?;
/// let x = gpu.random([2, 10, 64], Fill::Uniform, 2)?; // (batch, length, embed)
/// let y = layer.forward(&x, &AttentionOptions::new().causal(CausalFrom::TopLeft))?;
/// assert_eq!(y.shape(), [2, 10, 64]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MultiHeadAttention<T: Real> {
    pub(super) sizes: HeadSizes,
    /// Of queries, keys and values.
    pub(super) projections: Linear<T>,
    pub(super) output: Linear<T>,
    pub(super) rotary: Option<Rotary>,
}

impl<T: Real> MultiHeadAttention<T> {
    /// The layer with parameters of another type. To train in f16 or bf16, update a layer of f32 and cast it for each
    /// iteration.
    ///
    /// # Precision
    /// As [`Tensor::cast`].
    /// # Errors
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<MultiHeadAttention<P>> {
        call("MultiHeadAttention::cast", || {
            Ok(MultiHeadAttention {
                sizes: self.sizes,
                projections: cast(&self.projections, Activation::None)?,
                output: cast(&self.output, Activation::None)?,
                rotary: self.rotary.clone(),
            })
        })
    }

    /// The features of the operands and of the result.
    #[must_use]
    pub fn embed(&self) -> usize {
        self.sizes.embed
    }

    /// The number of heads.
    #[must_use]
    pub fn heads(&self) -> usize {
        self.sizes.heads
    }

    /// The number of heads of keys and values.
    #[must_use]
    pub fn kv_heads(&self) -> usize {
        self.sizes.kv_heads
    }

    /// The elements of a head.
    #[must_use]
    pub fn head_dim(&self) -> usize {
        self.sizes.dim()
    }

    /// The stacked weight of the projections, (rows, embed).
    #[must_use]
    pub fn in_proj_weight(&self) -> &Tensor<T> {
        self.projections.weight()
    }

    /// The stacked bias of the projections, (rows), if there is one.
    #[must_use]
    pub fn in_proj_bias(&self) -> Option<&Tensor<T>> {
        self.projections.bias()
    }

    /// The layer that maps the results of the heads.
    #[must_use]
    pub fn out_proj(&self) -> &Linear<T> {
        &self.output
    }

    /// The table that rotates queries and keys, if there is one.
    #[must_use]
    pub fn rotary(&self) -> Option<&Rotary> {
        self.rotary.as_ref()
    }
}

impl<T: Real> Parameters<T> for MultiHeadAttention<T> {
    /// `in_proj_weight`, `in_proj_bias`, `out_proj.weight` and `out_proj.bias`, without a bias that the layer lacks.
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let Self { projections, output, .. } = self;
        [projections.parameters_below(IN_PROJ), output.parameters_below(OUT_PROJ)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let Self { projections, output, .. } = self;
        let all = [projections.parameters_below_mut(IN_PROJ), output.parameters_below_mut(OUT_PROJ)];
        all.into_iter().flatten().collect()
    }
}

/// The layer with parameters of another type.
pub(super) fn cast<T: Real, P: Real>(linear: &Linear<T>, activation: Activation) -> Result<Linear<P>> {
    let bias = linear.bias().map(Tensor::cast).transpose()?;
    Linear::new(linear.weight().cast()?, bias, activation)
}
