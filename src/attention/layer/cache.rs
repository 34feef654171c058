//! A cache of keys and values that grows in place.

use super::cache_position::{CachePosition, OP, fill_at};
use super::multi_head::MultiHeadAttention;
use crate::error::call;
use crate::gpu::{Filling, Gpu};
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Why a cache that counts on the host is not filled in a capture.
const ON_THE_HOST: &str = "it counts its positions on the host, and every run of the replay would use those of the capture: \
                           create it with `KeyValueCache::replayable` or `MultiHeadAttention::replayable_cache`, which keep \
                           the position in a tensor";

/// The keys and values of a growing sequence, for decoding: two tensors of a fixed capacity, with the first part filled.
///
/// [`append`](Self::append) writes after the filled part and moves nothing; [`keys`](Self::keys) and [`values`](Self::values) are
/// views of the filled part. Both tensors are (batch, key heads, capacity, dim), so the keys of a head are neighbours in memory, in
/// the order in which attention reads them.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::attention::{AttentionOptions, KeyValueCache, attention};
///
/// let mut cache = KeyValueCache::<f32>::new(&gpu, [1, 2, 100, 16])?; // (batch, key heads, capacity, dim)
/// for step in 0..3 {
///     let [q, k, v] = [0, 1, 2].map(|part| gpu.random([1, 2, 1, 16], Fill::Uniform, 3 * step + part));
///     cache.append(&k?, &v?)?;
///     let y = attention(&q?, &cache.keys()?, &cache.values()?, &AttentionOptions::new())?;
///     assert_eq!(y.shape(), [1, 2, 1, 16]);
/// }
/// assert_eq!((cache.len(), cache.capacity()), (3, 100));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KeyValueCache<T: Real> {
    pub(super) keys: Tensor<T>,
    pub(super) values: Tensor<T>,
    /// The number of filled positions, unless a tensor has it.
    len: usize,
    pub(super) position: Option<CachePosition>,
}

impl<T: Real> KeyValueCache<T> {
    /// An empty cache.
    ///
    /// # Shapes
    /// `shape` is (batch, key heads, capacity, dim).
    /// # Errors
    /// [`Error::Shape`] if the number of heads or the dim is 0; [`Error::OutOfMemory`] or [`Error::Limit`] if it does not fit.
    pub fn new(gpu: &Gpu, shape: [usize; 4]) -> Result<Self> {
        call("KeyValueCache::new", || {
            let [_, heads, _, dim] = shape;
            if heads == 0 || dim == 0 {
                let rule = "a cache must be (batch, key heads, capacity, dim) with heads that have elements";
                return Err(Error::shape(OP, rule, &shape));
            }
            Ok(Self { keys: gpu.empty(shape)?, values: gpu.empty(shape)?, len: 0, position: None })
        })
    }

    /// Appends keys and values, in two launches. Earlier positions are not moved, and no memory is allocated. If the call fails,
    /// the cache is unchanged.
    ///
    /// If the launches never run, because the closure of [`Gpu::record_into`] fails later or the application drops the encoder,
    /// then only the new positions are missing, and reading them is an error. After [`truncate`](Self::truncate) to the earlier
    /// length, or [`clear`](Self::clear), appended positions are valid again. The same holds for the runs of a replay that fills a
    /// [`replayable`](Self::replayable) cache.
    ///
    /// Views that [`keys`](Self::keys) returned earlier keep their length. In the closure of [`Gpu::capture`](crate::Gpu::capture),
    /// the cache must be [`replayable`](Self::replayable), or created there: then each run appends, and the capture itself does
    /// not.
    ///
    /// # Shapes
    /// `keys` and `values` (batch, key heads, new, dim), any strides.
    /// # Errors
    /// [`Error::Shape`] if a tensor has another shape, or the new positions exceed the capacity; [`Error::Input`] if they are views
    /// of this cache, in a capture that would append at the same position in every run, or while another thread records a run that
    /// fills the cache; [`Error::Gpu`] if they are on another device; [`Error::Limit`] as
    /// [`ops::copy_into`](crate::ops::copy_into).
    /// # Precision
    /// Every bit is copied.
    pub fn append(&mut self, keys: &Tensor<T>, values: &Tensor<T>) -> Result<()> {
        call("KeyValueCache::append", || {
            self.check_capture()?;
            let new = self.check(keys, values)?;
            self.step(new, |cache| cache.fill(keys, values))
        })
    }

    /// Runs `pass`, which fills `new` positions and uses them. Nothing else uses the position meanwhile. If it fails, the cache
    /// is unchanged. If it fails in a capture after a launch that fills positions, the capture fails too.
    pub(super) fn step<R>(&mut self, new: usize, pass: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let Some(position) = &mut self.position else {
            let before = self.len;
            return pass(self).inspect_err(|_| self.len = before);
        };
        if self.keys.gpu().is_capturing() {
            let keys = self.keys.clone();
            return keys.write_with(|_| pass(self));
        }
        let claim = position.claim(new)?;
        let done = pass(self)?;
        claim.commit();
        Ok(done)
    }

    /// Copies keys and values after the filled positions, in a step of this number of positions.
    pub(super) fn fill(&mut self, keys: &Tensor<T>, values: &Tensor<T>) -> Result<()> {
        let (parts, new) = ([(keys, &self.keys), (values, &self.values)], keys.shape()[2]);
        if let Some(position) = &mut self.position {
            return position.fill(parts, new);
        }
        fill_at(parts, self.len..self.len + new)?;
        self.len += new;
        Ok(())
    }

    /// The number of positions to append, if they fit.
    fn check(&self, keys: &Tensor<T>, values: &Tensor<T>) -> Result<usize> {
        let [batch, heads, _, dim] = self.shape();
        self.keys.same_gpu(OP, keys)?;
        self.keys.same_gpu(OP, values)?;
        for (name, of) in [("keys", keys), ("values", values)] {
            if !matches!(*of.shape(), [a, b, _, d] if [a, b, d] == [batch, heads, dim]) {
                let rule = format!("the {name} must be (batch, key heads, new, dim) as the cache's");
                return Err(Self::mismatch(rule, of.shape(), self.keys.shape()));
            }
        }
        if keys.shape() != values.shape() {
            let rule = "there must be as many keys as values".to_owned();
            return Err(Self::mismatch(rule, keys.shape(), values.shape()));
        }
        let new = keys.shape()[2];
        self.check_room(new, keys.shape())?;
        Ok(new)
    }

    /// Checks that this number of positions of an operand of this shape fits.
    fn check_room(&self, new: usize, of: &[usize]) -> Result<()> {
        let len = self.position.as_ref().map_or(self.len, CachePosition::known);
        let capacity = self.capacity();
        if new <= capacity - len {
            return Ok(());
        }
        let rule = format!("the cache holds {len} of {capacity} positions and has no room for {new} more");
        Err(Self::mismatch(rule, of, self.keys.shape()))
    }

    /// Checks that the positions of `x` (batch, length, embed) fit into the cache. The layer's keys have this number of heads and
    /// elements.
    pub(super) fn check_operand(&self, x: &Tensor<T>, kv_heads: usize, dim: usize) -> Result<()> {
        self.keys.same_gpu(OP, x)?;
        let (batch, length) = (x.shape()[0], x.shape()[1]);
        let [of_batch, heads, _, elements] = self.shape();
        if [of_batch, heads, elements] != [batch, kv_heads, dim] {
            let rule =
                format!("the cache must be ({batch}, {kv_heads}, capacity, {dim}) for x and this layer");
            return Err(Self::mismatch(rule, self.keys.shape(), x.shape()));
        }
        self.check_room(length, x.shape())
    }

    fn mismatch(rule: String, of: &[usize], cache: &[usize]) -> Error {
        Error::Shape { op: OP, rule: rule.into(), remedy: "", lhs: of.to_vec(), rhs: Some(cache.to_vec()) }
    }

    /// The keys, (batch, key heads, length, dim); a view.
    ///
    /// # Errors
    /// [`Error::Input`] in the closure of a [`capture`](crate::Gpu::capture) that has not created the cache, because a view keeps
    /// its length while the cache grows.
    pub fn keys(&self) -> Result<Tensor<T>> {
        call("KeyValueCache::keys", || {
            self.check_views()?;
            self.keys.slice(2, ..self.len())
        })
    }

    /// The values, as [`keys`](Self::keys).
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn values(&self) -> Result<Tensor<T>> {
        call("KeyValueCache::values", || {
            self.check_views()?;
            self.values.slice(2, ..self.len())
        })
    }

    /// The number of filled positions of each sequence. Runs of replays count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.position.as_ref().map_or(self.len, CachePosition::len)
    }

    /// Whether no position is filled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest number of positions of each sequence.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shape()[2]
    }

    /// (batch, key heads, capacity, dim).
    #[must_use]
    pub fn shape(&self) -> [usize; 4] {
        let shape = self.keys.shape();
        [0, 1, 2, 3].map(|axis| shape[axis])
    }

    /// Forgets all positions, and keeps the memory. In the closure of a [`capture`](crate::Gpu::capture), the capture fails.
    pub fn clear(&mut self) {
        if !self.is_refused_in_capture("KeyValueCache::clear") {
            self.keep(0);
        }
    }

    /// Forgets all positions after the first `len`. If there are no more, the call has no effect. The next positions overwrite the
    /// forgotten ones, which earlier views see. In the closure of a [`capture`](crate::Gpu::capture), the capture fails.
    pub fn truncate(&mut self, len: usize) {
        if !self.is_refused_in_capture("KeyValueCache::truncate") {
            self.keep(len);
        }
    }

    /// Forgets all positions after the first `len`.
    fn keep(&mut self, len: usize) {
        match &self.position {
            Some(position) => position.truncate(len),
            None => self.len = self.len.min(len),
        }
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
    /// An empty cache for this layer. Each layer of a model needs its own.
    ///
    /// # Shapes
    /// (batch, key heads, `capacity`, head dim) for keys and for values.
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if it does not fit.
    pub fn cache(&self, batch: usize, capacity: usize) -> Result<KeyValueCache<T>> {
        call("MultiHeadAttention::cache", || {
            let shape = [batch, self.sizes.kv_heads, capacity, self.sizes.dim()];
            KeyValueCache::new(self.in_proj_weight().gpu(), shape)
        })
    }
}
