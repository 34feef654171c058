//! The forward pass of multi-head attention.

use super::cache::KeyValueCache;
use super::multi_head::{MultiHeadAttention, OP};
use super::rows::{check_sequences, mapped};
use crate::attention::call::attention;
use crate::attention::options::AttentionOptions;
use crate::attention::range::CausalFrom;
use crate::error::call;
use crate::gemm::Linear;
use crate::layout::Real;
use crate::ops::Activation;
use crate::ops::rotary::Start;
use crate::ops::rotary::pairs::RotaryPass;
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::ops::Range;

impl<T: Real> MultiHeadAttention<T> {
    /// Self attention: queries, keys and values of the same sequences.
    ///
    /// # Shapes
    /// `x` (batch, length, embed) -> (batch, length, embed). A batch without sequences and sequences without positions are allowed.
    /// # Errors
    /// [`Error::Shape`] if `x` has another shape, or masks and biases do not fit; [`Error::Input`] if the scale is not finite, or there are
    /// fewer positions in the rotary table than `x` has; [`Error::Gpu`] if operands are on different devices; [`Error::Limit`] and
    /// [`Error::OutOfMemory`] as [`attention`](crate::attention()).
    /// # Precision
    /// Each launch computes in f32; queries, keys, values and the results of the heads are rounded to `T`:
    /// [`reference::MultiHeadReference`](crate::reference::MultiHeadReference).
    pub fn forward(&self, x: &Tensor<T>, options: &AttentionOptions<'_, T>) -> Result<Tensor<T>> {
        call("MultiHeadAttention::forward", || self.attended(x, None, options))
    }

    /// Cross attention: queries of one tensor, keys and values of another. One product computes the queries, another the keys and
    /// values.
    ///
    /// # Shapes
    /// `query` (batch, length, embed), `key_value` (batch, keys, embed) -> (batch, length, embed). If there are no keys, the result is the
    /// bias of the output.
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::Shape`] if the batches differ; [`Error::Input`] if the layer has a rotary table,
    /// because positions of the two tensors are unrelated.
    /// # Precision
    /// As [`forward`](Self::forward).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::attention::{AttentionOptions, MultiHeadAttention};
    ///
    /// let layer = MultiHeadAttention::<f32>::builder(32, 4).random(&gpu)?;
    /// let text = gpu.random([2, 5, 32], Fill::Uniform, 1)?;
    /// let image = gpu.random([2, 49, 32], Fill::Uniform, 2)?;
    /// assert_eq!(layer.forward_cross(&text, &image, &AttentionOptions::new())?.shape(), [2, 5, 32]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward_cross(
        &self,
        query: &Tensor<T>,
        key_value: &Tensor<T>,
        options: &AttentionOptions<'_, T>,
    ) -> Result<Tensor<T>> {
        call("MultiHeadAttention::forward_cross", || {
            let [q, k, v] = self.cross_heads(query, key_value)?;
            self.joined(&attention(&q, &k, &v, options)?, None)
        })
    }

    /// Self attention of new positions of sequences. Their keys and values are appended to a cache. It is causal: each query
    /// attends the earlier positions of the cache, the new positions before it and its own. So passes over the parts of a sequence
    /// give the rows of one causal pass over the whole sequence. [`CausalFrom::BottomRight`] may be set and has no effect.
    ///
    /// A rotary table rotates by the positions in the cache. If the call fails, the cache is unchanged. A step can be captured if
    /// the cache is [`replayable`](KeyValueCache::replayable).
    ///
    /// # Shapes
    /// As [`forward`](Self::forward), with a cache of [`cache`](Self::cache). Masks and biases have the shape of the new queries
    /// and all keys.
    /// # Errors
    /// As [`forward`](Self::forward) and [`KeyValueCache::append`]; [`Error::Input`] for a mask of [`CausalFrom::TopLeft`], and for
    /// key lengths with a cache that has its position in a tensor.
    /// # Precision
    /// As [`forward`](Self::forward).
    /// # Launches
    /// Those of [`forward`](Self::forward), and two that append; a third one advances the position of a
    /// [`replayable`](KeyValueCache::replayable) cache.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::attention::{AttentionOptions, CausalFrom, MultiHeadAttention};
    ///
    /// let layer = MultiHeadAttention::<f32>::builder(32, 4).random(&gpu)?;
    /// let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
    /// let x = gpu.random::<f32>([1, 6, 32], Fill::Uniform, 1)?;
    /// let whole = layer.forward(&x, &causal)?.to_vec()?;
    ///
    /// let mut cache = layer.cache(1, 64)?;
    /// let options = AttentionOptions::new();
    /// layer.forward_cached(&x.slice(1, ..5)?, &mut cache, &options)?; // the prompt
    /// let last = layer.forward_cached(&x.slice(1, 5..)?, &mut cache, &options)?.to_vec()?;
    /// assert!(last.iter().zip(&whole[5 * 32..]).all(|(a, b)| (a - b).abs() < 1e-5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward_cached(
        &self,
        x: &Tensor<T>,
        cache: &mut KeyValueCache<T>,
        options: &AttentionOptions<'_, T>,
    ) -> Result<Tensor<T>> {
        call("MultiHeadAttention::forward_cached", || {
            self.check_cached(x, cache, options)?;
            cache.step(x.shape()[1], |cache| self.attended_cached(x, None, cache, options))
        })
    }

    /// Self attention, plus a residual.
    pub(super) fn attended(
        &self,
        x: &Tensor<T>,
        residual: Option<&Tensor<T>>,
        options: &AttentionOptions<'_, T>,
    ) -> Result<Tensor<T>> {
        let [q, k, v] = self.self_heads(x, Start::Number(0))?;
        self.joined(&attention(&q, &k, &v, options)?, residual)
    }

    /// Self attention with a cache in one of its steps, plus a residual.
    pub(super) fn attended_cached(
        &self,
        x: &Tensor<T>,
        residual: Option<&Tensor<T>>,
        cache: &mut KeyValueCache<T>,
        options: &AttentionOptions<'_, T>,
    ) -> Result<Tensor<T>> {
        let [q, k, v] = self.self_heads(x, cache.start())?;
        cache.fill(&k, &v)?;
        // Without a mask, several new positions would attend later ones.
        let options = &options.causal(CausalFrom::BottomRight);
        self.joined(&cache.attended_by(&q, options)?, residual)
    }

    /// Checks the operands of a pass with a cache, before anything is launched.
    pub(super) fn check_cached(
        &self,
        x: &Tensor<T>,
        cache: &KeyValueCache<T>,
        options: &AttentionOptions<'_, T>,
    ) -> Result<()> {
        if options.causal == Some(CausalFrom::TopLeft) {
            let why = "with a cache it must count from `CausalFrom::BottomRight`, where the new queries are";
            return Err(Error::input(format!("{OP}: the causal mask"), why));
        }
        cache.check_capture()?;
        cache.check_options(options)?;
        check_sequences(OP, "x", x, self.sizes.embed)?;
        cache.check_operand(x, self.sizes.kv_heads, self.sizes.dim())
    }

    /// Queries, keys and values (batch, heads, length, dim): views of one product. `start` is the position of the first element.
    pub(super) fn self_heads(&self, x: &Tensor<T>, start: Start<'_>) -> Result<[Tensor<T>; 3]> {
        check_sequences(OP, "x", x, self.sizes.embed)?;
        let all = self.sizes.of(&mapped(&self.projections, x, None)?)?;
        let (queries, keys) = (self.sizes.heads, self.sizes.kv_heads);
        // Queries and keys are neighbours, so that one launch rotates both.
        let placed = all.slice(1, ..queries + keys)?;
        let placed = match &self.rotary {
            Some(rotary) => rotary.run(RotaryPass::Forward, &placed, start)?,
            None => placed,
        };
        Ok([placed.slice(1, ..queries)?, placed.slice(1, queries..)?, all.slice(1, queries + keys..)?])
    }

    /// Queries of one operand, keys and values of another.
    pub(super) fn cross_heads(&self, query: &Tensor<T>, key_value: &Tensor<T>) -> Result<[Tensor<T>; 3]> {
        check_sequences(OP, "the query", query, self.sizes.embed)?;
        check_sequences(OP, "the key and value", key_value, self.sizes.embed)?;
        query.same_gpu(OP, key_value)?;
        if query.shape()[0] != key_value.shape()[0] {
            let rule = "the query and the key and value must have the same batch";
            return Err(Error::shapes(OP, rule, query.shape(), key_value.shape()));
        }
        if self.rotary.is_some() {
            let why =
                "positions of one tensor say nothing about those of another one: build the layer without it";
            return Err(Error::input(format!("{OP}: the rotary table"), why));
        }
        let [of_queries, of_keys] = self.cross_projections()?;
        let q = self.sizes.of(&mapped(&of_queries, query, None)?)?;
        let both = self.sizes.of(&mapped(&of_keys, key_value, None)?)?;
        let keys = self.sizes.kv_heads;
        Ok([q, both.slice(1, ..keys)?, both.slice(1, keys..)?])
    }

    /// The layers that compute queries, and keys with values: views of the stacked one.
    pub(super) fn cross_projections(&self) -> Result<[Linear<T>; 2]> {
        let part = |rows: Range<usize>| {
            let bias = self.projections.bias().map(|bias| bias.slice(0, rows.clone())).transpose()?;
            Linear::new(self.projections.weight().slice(0, rows)?, bias, Activation::None)
        };
        Ok([part(0..self.sizes.embed)?, part(self.sizes.embed..self.sizes.rows())?])
    }

    /// The results of the heads (batch, heads, length, dim), mapped by the output's weight, plus a residual.
    pub(super) fn joined(&self, y: &Tensor<T>, residual: Option<&Tensor<T>>) -> Result<Tensor<T>> {
        mapped(&self.output, &self.merged(y)?, residual)
    }

    /// The results of the heads as (batch, length, embed): a view, because [`attention`] keeps the order of the queries' axes.
    pub(super) fn merged(&self, y: &Tensor<T>) -> Result<Tensor<T>> {
        let (batch, length) = (y.shape()[0], y.shape()[2]);
        // Without keys, the result is zeros with row-major axes, and this copies them.
        y.permute(&[0, 2, 1, 3])?.contiguous()?.reshape([batch, length, self.sizes.embed])
    }
}
