//! The backward pass of multi-head attention.

use super::multi_head::{IN_PROJ, MultiHeadAttention, OP, OUT_PROJ};
use crate::attention::backward::attention_backward;
use crate::attention::call::attention_with_lse;
use crate::attention::options::AttentionOptions;
use crate::error::call;
use crate::gemm::Linear;
use crate::layout::Real;
use crate::ops::concat;
use crate::ops::rotary::Start;
use crate::ops::training::{Gradients, Parameters, check_gradients};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The tensors of a forward pass of a [`MultiHeadAttention`] that the backward pass needs: the operands, the heads, their results
/// and the logarithms of their sums. None of them is as large as the scores.
#[derive(Clone, Debug)]
pub struct SavedAttention<'a, T: Real> {
    x: Tensor<T>,
    /// The operand of keys and values, if it differs.
    key_value: Option<Tensor<T>>,
    /// Queries, keys and values (batch, heads, length, dim), rotated.
    heads: [Tensor<T>; 3],
    y: Tensor<T>,
    lse: Tensor<f32>,
    options: AttentionOptions<'a, T>,
}

impl<T: Real> MultiHeadAttention<T> {
    /// As [`forward`](Self::forward); also returns the tensors that [`backward`](Self::backward) needs. The result has
    /// the same bits.
    ///
    /// # Shapes
    /// As [`forward`](Self::forward).
    /// # Errors
    /// As [`forward`](Self::forward).
    /// # Precision
    /// As [`forward`](Self::forward).
    pub fn forward_saved<'a>(
        &self,
        x: &Tensor<T>,
        options: &AttentionOptions<'a, T>,
    ) -> Result<(Tensor<T>, SavedAttention<'a, T>)> {
        call("MultiHeadAttention::forward_saved", || {
            self.saved(self.self_heads(x, Start::Number(0))?, x.clone(), None, *options)
        })
    }

    /// As [`forward_cross`](Self::forward_cross); also returns the tensors that [`backward`](Self::backward) needs. The
    /// result has the same bits.
    ///
    /// # Shapes
    /// As [`forward_cross`](Self::forward_cross).
    /// # Errors
    /// As [`forward_cross`](Self::forward_cross).
    /// # Precision
    /// As [`forward_cross`](Self::forward_cross).
    pub fn forward_cross_saved<'a>(
        &self,
        query: &Tensor<T>,
        key_value: &Tensor<T>,
        options: &AttentionOptions<'a, T>,
    ) -> Result<(Tensor<T>, SavedAttention<'a, T>)> {
        call("MultiHeadAttention::forward_cross_saved", || {
            let heads = self.cross_heads(query, key_value)?;
            self.saved(heads, query.clone(), Some(key_value.clone()), *options)
        })
    }

    fn saved<'a>(
        &self,
        heads: [Tensor<T>; 3],
        x: Tensor<T>,
        key_value: Option<Tensor<T>>,
        options: AttentionOptions<'a, T>,
    ) -> Result<(Tensor<T>, SavedAttention<'a, T>)> {
        let [q, k, v] = &heads;
        let (y, lse) = attention_with_lse(q, k, v, &options)?;
        let result = self.joined(&y, None)?;
        Ok((result, SavedAttention { x, key_value, heads, y, lse, options }))
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to the operands and the parameters, from
    /// its gradient `grad` with respect to the result. `saved` comes from [`forward_saved`](Self::forward_saved) or
    /// [`forward_cross_saved`](Self::forward_cross_saved) of this layer. Call it before a step of descent, because it
    /// reads the current weights.
    ///
    /// A bias of the options gets no gradient here. To train one, compose [`Linear`](crate::gemm::Linear),
    /// [`attention_with_lse`](crate::attention::attention_with_lse) and
    /// [`attention_bias_backward`](crate::attention::attention_bias_backward).
    ///
    /// # Shapes
    /// `grad` (batch, length, embed), as the result -> the gradient of the operand, or of the query; of cross attention that of the key
    /// and value; and those of the parameters, in f32.
    /// # Errors
    /// [`Error::Shape`] if `grad` has another shape, or `saved` is of a layer with other sizes; otherwise as [`forward`](Self::forward).
    /// # Precision
    /// As [`linear_backward`](crate::gemm::linear_backward) and [`attention_backward`](crate::attention::attention_backward). The gradients of heads
    /// are rounded to `T`.
    /// # Launches
    /// Twelve for self attention with contiguous operands, or fourteen with a rotary table: three for the output's map, three for
    /// the attention, the rotation of two gradients, three that copy the gradients of queries, keys and values next to each other,
    /// and three for the stacked map. Long sums of few rows (split-k) take one more launch each.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Fill, Parameters, ops};
    /// use tilewise::attention::{AttentionOptions, MultiHeadAttention};
    ///
    /// let mut layer = MultiHeadAttention::<f32>::builder(16, 2).random(&gpu)?;
    /// let [x, target] = [1, 2].map(|seed| gpu.random::<f32>([3, 5, 16], Fill::Uniform, seed));
    /// let (x, target) = (x?, target?);
    /// let mut losses = Vec::new();
    /// for _ in 0..20 {
    ///     let (y, saved) = layer.forward_saved(&x, &AttentionOptions::new())?;
    ///     let (loss, grad) = ops::mse_and_gradient(&y, &target, ops::Reduction::Mean, 1.0)?;
    ///     let (_, _, gradients) = layer.backward(&saved, &grad)?;
    ///     layer.descend(&gradients, 1.0)?;
    ///     losses.push(loss.to_vec()?[0]);
    /// }
    /// assert!(losses[19] < losses[0], "{losses:?}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn backward(
        &self,
        saved: &SavedAttention<'_, T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Option<Tensor<T>>, Gradients)> {
        call("MultiHeadAttention::backward", || {
            let ((x, key_value), gradients) = Gradients::of(|to| self.add_gradients(saved, grad, to))?;
            Ok((x, key_value, gradients))
        })
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`backward`](Self::backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        saved: &SavedAttention<'_, T>,
        grad: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<(Tensor<T>, Option<Tensor<T>>)> {
        call("MultiHeadAttention::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            self.add_gradients(saved, grad, gradients)
        })
    }

    fn add_gradients(
        &self,
        saved: &SavedAttention<'_, T>,
        grad: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<(Tensor<T>, Option<Tensor<T>>)> {
        self.check_saved(saved, grad)?;
        let SavedAttention { x, key_value, heads: [q, k, v], y, lse, options } = saved;
        let merged = self.merged(y)?;
        let of_results = gradients.below(OUT_PROJ, |own| self.output.backward_into(&merged, grad, own))?;
        let of_heads = attention_backward(q, k, v, y, lse, &self.sizes.of(&of_results)?, options)?;
        let turned = |of: Tensor<T>| match &self.rotary {
            Some(rotary) if key_value.is_none() => rotary.backward(&of, 0),
            _ => Ok(of),
        };
        let of_heads = [turned(of_heads.q)?, turned(of_heads.k)?, of_heads.v];
        gradients.below(IN_PROJ, |own| {
            let Some(key_value) = key_value else {
                return Ok((through(&self.projections, x, &of_heads, own)?, None));
            };
            let [of_queries, of_keys] = self.cross_projections()?;
            let mut both = [Gradients::new(), Gradients::new()];
            let x = through(&of_queries, x, &of_heads[..1], &mut both[0])?;
            let of_key_value = through(&of_keys, key_value, &of_heads[1..], &mut both[1])?;
            for (name, first) in both[0].iter() {
                if let Some(second) = both[1].get(name) {
                    own.add(name, concat(&[first, second], 0)?)?;
                }
            }
            Ok((x, Some(of_key_value)))
        })
    }

    /// Checks that a forward pass belongs to this layer, and the gradient to its result.
    fn check_saved(&self, saved: &SavedAttention<'_, T>, grad: &Tensor<T>) -> Result<()> {
        self.in_proj_weight().same_gpu(OP, &saved.x)?;
        saved.x.same_gpu(OP, grad)?;
        let [_, heads, _, dim] = *saved.y.shape() else {
            return Err(Error::shape(OP, "the results of heads must have four axes", saved.y.shape()));
        };
        let kv_heads = saved.heads[1].shape()[1];
        if [heads, kv_heads, dim] != [self.sizes.heads, self.sizes.kv_heads, self.sizes.dim()] {
            let rule =
                "what was saved must be of this layer: of as many heads and key heads with as many elements";
            let own = [self.sizes.heads, self.sizes.kv_heads, self.sizes.dim()];
            return Err(Error::shapes(OP, rule, &[heads, kv_heads, dim], &own));
        }
        if grad.shape() == saved.x.shape() {
            return Ok(());
        }
        let rule = "the gradient must have the shape of the result";
        Err(Error::shapes(OP, rule, grad.shape(), saved.x.shape()))
    }
}

/// The backward pass of a linear map with a result that was divided into heads, from the gradients of the heads.
fn through<T: Real>(
    linear: &Linear<T>,
    x: &Tensor<T>,
    heads: &[Tensor<T>],
    gradients: &mut Gradients,
) -> Result<Tensor<T>> {
    let rows = heads.iter().map(|of| of.permute(&[0, 2, 1, 3])).collect::<Result<Vec<_>>>()?;
    let all = match &rows[..] {
        [one] => one.contiguous()?,
        _ => concat(&rows.iter().collect::<Vec<_>>(), 2)?,
    };
    let &[batch, length, _] = x.shape() else {
        return Err(Error::shape(OP, "an operand must have three axes", x.shape()));
    };
    linear.backward_into(x, &all.reshape([batch, length, linear.weight().shape()[0]])?, gradients)
}
