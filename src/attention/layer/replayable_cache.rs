//! A cache whose position is in a tensor, for steps that are captured.

use super::cache::KeyValueCache;
use super::cache_position::{CachePosition, OP};
use super::multi_head::MultiHeadAttention;
use crate::attention::call::attention;
use crate::attention::options::AttentionOptions;
use crate::error::call;
use crate::gpu::Gpu;
use crate::layout::Real;
use crate::ops::rotary::Start;
use crate::tensor::Tensor;
use crate::{Error, Result};

impl<T: Real> KeyValueCache<T> {
    /// An empty cache for steps that are captured ([`Gpu::capture`](crate::Gpu::capture)): a tensor has the number of positions that are
    /// filled ([`position`](Self::position)), and kernels read there where they write, up to which key they attend, and by which angles
    /// they rotate. So one [`Replay`](crate::Replay) serves every position.
    ///
    /// The host counts along: [`len`](Self::len) includes the runs, [`truncate`](Self::truncate) and [`clear`](Self::clear) may come between
    /// them, and a run for which there is no room is an error. Calls without a replay do the same and have the same bits. Each append takes
    /// one launch more, which advances the position. Masks and biases are of the new queries and all positions of the capacity.
    ///
    /// # Shapes
    /// As [`new`](Self::new).
    /// # Errors
    /// As [`new`](Self::new); [`Error::Limit`] if the capacity is $2^{31}$ or more; [`Error::Input`] in the closure of a `capture`.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::attention::{AttentionOptions, CausalFrom, MultiHeadAttention};
    ///
    /// let layer = MultiHeadAttention::<f32>::builder(16, 2).random(&gpu)?;
    /// let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
    /// let x = gpu.random::<f32>([1, 6, 16], Fill::Uniform, 1)?;
    /// let whole = layer.forward(&x, &causal)?.to_vec()?;
    ///
    /// let mut cache = layer.replayable_cache(1, 8)?;
    /// layer.forward_cached(&x.slice(1, ..3)?, &mut cache, &causal)?; // the prompt
    /// let token = gpu.zeros::<f32>([1, 1, 16])?;
    /// let mut step = gpu.capture(&[token.view()], || layer.forward_cached(&token, &mut cache, &causal))?;
    /// for t in 3..6 {
    ///     step.write(0, &x.slice(1, t..=t)?.to_vec()?)?;
    ///     let y = step.run(&[token.view()])?.to_vec()?;
    ///     assert!(y.iter().zip(&whole[16 * t..]).all(|(a, b)| (a - b).abs() < 1e-5));
    /// }
    /// assert_eq!(cache.len(), 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn replayable(gpu: &Gpu, shape: [usize; 4]) -> Result<Self> {
        call("KeyValueCache::replayable", || {
            let mut cache = Self::new(gpu, shape)?;
            cache.position = Some(CachePosition::new(gpu, shape[2])?);
            Ok(cache)
        })
    }

    /// The tensor (1) that has the number of positions that are filled, of a [`replayable`](Self::replayable) cache: to take rows of a table
    /// of positions ([`ops::slice_at`](crate::ops::slice_at)), or to rotate by it ([`Rotary::apply_at`](crate::ops::Rotary::apply_at)), in a
    /// captured step too. [`append`](Self::append) advances it. Clones of it show what [`truncate`](Self::truncate) sets, in replays too.
    /// Only the cache writes it: everyone else's write is an error.
    ///
    /// # Errors
    /// [`Error::Input`] if the cache counts on the host, another thread records a run that fills it, or commands that an application has
    /// not submitted use it; [`Error::Device`] if the device is lost.
    pub fn position(&self) -> Result<&Tensor<i32>> {
        call("KeyValueCache::position", || match &self.position {
            Some(position) => position.tensor(),
            None => Err(Error::input(format!("{OP}: the position"), "it is on the host: call `len`")),
        })
    }

    /// Where the next position is in a step, for a rotary table.
    pub(super) fn start(&self) -> Start<'_> {
        self.position.as_ref().map_or_else(|| Start::Number(self.len()), |of| Start::Tensor(&of.at))
    }

    /// In a step, the attention of queries of the last positions to all that are filled.
    pub(super) fn attended_by(&self, q: &Tensor<T>, options: &AttentionOptions<'_, T>) -> Result<Tensor<T>> {
        let Some(position) = &self.position else {
            return attention(q, &self.keys()?, &self.values()?, options);
        };
        let lengths = position.at.broadcast_to([self.shape()[0]])?;
        let gpu = self.keys.gpu();
        let [keys, values] =
            [&self.keys, &self.values].map(|of| gpu.filled_part(&position.cursor, &of.view(), 2));
        attention(q, &self.keys, &self.values, &options.filled(&lengths, [&keys, &values]))
    }

    /// Fails if options cannot be used with this cache.
    pub(super) fn check_options(&self, options: &AttentionOptions<'_, T>) -> Result<()> {
        if self.position.is_some() && options.lengths.is_some() {
            let why = "the position of the cache is the length of all its sequences: mask keys with `keep`";
            return Err(Error::input(format!("{OP}: the key lengths"), why));
        }
        Ok(())
    }
}

impl<T: Real> MultiHeadAttention<T> {
    /// An empty cache for this layer whose position is in a tensor, so that steps can be captured: [`KeyValueCache::replayable`].
    ///
    /// # Shapes
    /// As [`cache`](Self::cache).
    /// # Errors
    /// As [`KeyValueCache::replayable`].
    pub fn replayable_cache(&self, batch: usize, capacity: usize) -> Result<KeyValueCache<T>> {
        call("MultiHeadAttention::replayable_cache", || {
            let shape = [batch, self.sizes.kv_heads, capacity, self.sizes.dim()];
            KeyValueCache::replayable(self.in_proj_weight().gpu(), shape)
        })
    }
}
