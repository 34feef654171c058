//! A cache whose position is in a tensor, so that one captured step serves every position.

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
    /// The number of positions that are filled, (1).
    at: Tensor<i32>,
    /// By how much one step advances it: a number, and the tensor that has it.
    step: (usize, Tensor<i32>),
    cursor: Arc<Cursor>,
}

/// Why a cache that counts on the host is not filled in a capture.
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

    /// The positions that are filled when the next work begins; in a capture only those that it has filled itself.
    pub(super) fn known(&self) -> usize {
        self.at.gpu().captured_advance(&self.cursor).unwrap_or_else(|| self.len())
    }

    /// Claims the position for a step that fills `new`.
    pub(super) fn claim(&self, new: usize) -> Result<Claim> {
        self.at.gpu().claim(OP, &self.cursor, &self.at.view(), new)
    }

    /// Copies `new` positions behind those that are filled, as a step has claimed or as the runs of a capture will, and advances
    /// the position.
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

    /// The tensor, which has the host's number before what is recorded next.
    fn tensor(&self) -> Result<&Tensor<i32>> {
        if !self.at.gpu().is_capturing() {
            self.claim(0)?.commit();
        }
        Ok(&self.at)
    }
}

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

    /// Fails in a capture that would use the positions of the capture in every run.
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

    /// Fails in a capture, for views of what is filled now.
    pub(super) fn check_views(&self) -> Result<()> {
        self.check_capture()?;
        if self.position.is_some() && self.keys.gpu().is_capturing() {
            let why = "their number changes from run to run, and that of a view does not: attend them by `forward_cached`, or \
                       take the view before the capture";
            return Err(Error::input(format!("{OP}: the keys and values"), why));
        }
        Ok(())
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

    /// Lets a capture fail that does not repeat a call that sets the number of positions, and whether it does.
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
