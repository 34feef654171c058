//! A cache with its position in a tensor, so that one captured step serves every position.

use super::cache::{KeyValueCache, OP, fill_at};
use super::multi_head::MultiHeadAttention;
use crate::attention::options::AttentionOptions;
use crate::attention::run::attention;
use crate::error::call;
use crate::gpu::{Claim, Cursor, Filling, Gpu};
use crate::layout::Real;
use crate::ops::add_assign;
use crate::ops::copy::copy_filling;
use crate::ops::rotary::Start;
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::sync::Arc;

/// The position of a cache in a tensor.
#[derive(Debug)]
pub(super) struct CachePosition {
    /// The number of filled positions, (1).
    at: Tensor<i32>,
    /// The number of positions of one step, and a tensor with this number.
    step: (usize, Tensor<i32>),
    cursor: Arc<Cursor>,
}

/// The reason why a capture cannot fill a cache that counts on the host.
const ON_THE_HOST: &str = "it counts its positions on the host, and every run of the replay would use those of the capture: \
                           create it with `KeyValueCache::replayable` or `MultiHeadAttention::replayable_cache`, which keep \
                           the position in a tensor";

impl CachePosition {
    fn new(gpu: &Gpu, capacity: usize) -> Result<Self> {
        if i32::try_from(capacity).is_err() {
            let (what, allowed) = ("the number of positions".to_owned(), i32::MAX.unsigned_abs().into());
            return Err(Error::Limit { op: OP, what, needed: capacity as u64, allowed });
        }
        let at = gpu.zeros([1])?;
        let cursor = gpu.cursor(&at.view(), capacity);
        Ok(Self { at, step: (1, gpu.constant_tensor(1)?), cursor })
    }

    pub(super) fn len(&self) -> usize {
        self.cursor.len()
    }

    pub(super) fn truncate(&self, len: usize) {
        self.cursor.truncate(len);
    }

    /// The positions that are filled when the next work begins; in a capture, only those that the capture itself has
    /// filled.
    pub(super) fn known(&self) -> usize {
        self.at.gpu().captured_advance(&self.cursor).unwrap_or_else(|| self.len())
    }

    /// Claims the position for a step that fills `new`.
    pub(super) fn claim(&self, new: usize) -> Result<Claim> {
        self.at.gpu().claim(OP, &self.cursor, &self.at.view(), new)
    }

    /// Copies `new` positions after the filled ones, and advances the position. A step has claimed them, or the runs of a
    /// capture will.
    pub(super) fn fill<T: Real>(&mut self, parts: [(&Tensor<T>, &Tensor<T>); 2], new: usize) -> Result<()> {
        if self.step.0 != new {
            let step = i32::try_from(new).unwrap_or(i32::MAX);
            self.step = (new, self.at.gpu().constant_tensor(step)?);
        }
        let gpu = self.at.gpu();
        if gpu.is_capturing() {
            for (part, whole) in parts {
                copy_filling(part, whole, 2, (&self.cursor, &self.at))?;
            }
        } else {
            fill_at(parts, self.cursor.filled())?;
        }
        add_assign(&mut self.at.writable_view(), &self.step.1)?;
        gpu.capture_advance(&self.cursor, new);
        Ok(())
    }

    /// The tensor, after setting it to the host's number before the next recorded work.
    fn tensor(&self) -> Result<&Tensor<i32>> {
        if !self.at.gpu().is_capturing() {
            self.claim(0)?.commit();
        }
        Ok(&self.at)
    }
}

impl<T: Real> KeyValueCache<T> {
    /// An empty cache for captured steps ([`Gpu::capture`](crate::Gpu::capture)). A tensor has the number of filled positions
    /// ([`position`](Self::position)). Kernels read this number on the device: it determines the positions that they write, the
    /// last key that they attend, and the angles by which they rotate. So one [`Replay`](crate::Replay) serves every position.
    ///
    /// The host counts too: [`len`](Self::len) includes the runs, [`truncate`](Self::truncate) and [`clear`](Self::clear) may be
    /// called between them, and a run that exceeds the capacity is an error. Calls without a replay do the same and have the same
    /// bits. Each append takes one more launch, which advances the position. Masks and biases have the shape of the new queries and
    /// all positions of the capacity.
    ///
    /// # Shapes
    /// As [`new`](Self::new).
    /// # Errors
    /// As [`new`](Self::new); [`Error::Limit`] if the capacity is $2^{31}$ or more; [`Error::Input`] in the closure of a `capture`.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{AttentionOptions, CausalFrom, Fill, MultiHeadAttention};
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

    /// The tensor (1) with the number of filled positions of a [`replayable`](Self::replayable) cache. With it a captured step can
    /// take rows of a table of positions ([`ops::slice_at`](crate::ops::slice_at)), or rotate by the position
    /// ([`Rotary::apply_at`](crate::ops::Rotary::apply_at)). [`append`](Self::append) advances it. Clones of it show the number
    /// after [`truncate`](Self::truncate), in replays too. Only the cache may write it; any other write is an error.
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

    /// Fails in a capture if every run would use the positions of the capture.
    pub(super) fn check_capture(&self) -> Result<()> {
        let gpu = self.keys.gpu();
        if self.position.is_none()
            && gpu.is_capturing()
            && gpu.filling(&self.keys.view()) == Filling::EveryRun
        {
            return Err(Error::input(format!("{OP}: the cache"), ON_THE_HOST));
        }
        Ok(())
    }

    /// Fails in a capture, for views of the currently filled part.
    pub(super) fn check_views(&self) -> Result<()> {
        self.check_capture()?;
        if self.position.is_some() && self.keys.gpu().is_capturing() {
            let why = "their number changes from run to run, and that of a view does not: attend them by `forward_cached`, or \
                       take the view before the capture";
            return Err(Error::input(format!("{OP}: the keys and values"), why));
        }
        Ok(())
    }

    /// The next position in a step, for a rotary table.
    pub(super) fn start(&self) -> Start<'_> {
        self.position.as_ref().map_or_else(|| Start::Number(self.len()), |of| Start::Tensor(&of.at))
    }

    /// In a step, the attention of queries of the last positions to all filled positions.
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

    /// Makes a capture fail in which a call sets the number of positions, because its runs would not repeat the call.
    /// Returns whether there is such a capture.
    pub(super) fn is_refused_in_capture(&self, name: &'static str) -> bool {
        let gpu = self.keys.gpu();
        let is_refused = gpu.is_capturing() && gpu.filling(&self.keys.view()) == Filling::EveryRun;
        if is_refused {
            let why =
                "it sets the host's number of positions once, and not in every run: call it between the runs";
            gpu.refuse_in_capture(name, why);
        }
        is_refused
    }
}

impl<T: Real> MultiHeadAttention<T> {
    /// An empty cache for this layer with its position in a tensor, so that steps can be captured: [`KeyValueCache::replayable`].
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
