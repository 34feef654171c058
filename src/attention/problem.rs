//! A checked attention, as plain data.

use super::range::{AttentionCorner, AttentionKernel, AttentionRange, CausalFrom};
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim, known};
use crate::ops::vectors::{Moves, per_vector};
use crate::{Error, Result};

shader_dims! {
    /// The uniform of the shaders of `shaders/attention`, in elements. Query head h has key head h / group. The rows of a key head are
    /// the queries of its group of query heads: row r is query r / group of head r % group. The call passes `scale`.
    pub struct AttentionDims {
        /// of Q: the first element in its binding, then the strides of batch, head and query
        q: [u32; 4],
        /// of K: likewise, and of the keys
        k: [u32; 4],
        /// of V
        v: [u32; 4],
        /// of the result
        y: [u32; 4],
        /// strides of the bias: batch, head, query, key
        bias: [u32; 4],
        /// strides along the head dims of Q, K and V; then the bias's first element in its binding
        along: [u32; 4],
        queries: u32,
        keys: u32,
        /// query heads per key head
        group: u32,
        kv_heads: u32,
        /// of Q and K
        dim: u32,
        /// of V and the result
        dim_v: u32,
        /// invocations that share a row: a power of two, at most LANES
        lanes: u32,
        /// of the keys
        parts: u32,
        /// query i attends keys from i + lower
        lower: i32,
        /// to i + upper, both included
        upper: i32,
        /// of the keep mask: the first element in its binding, and the stride of the batch
        keep: [u32; 2],
        /// its stride along the keys
        keep_along: u32,
        /// of the key lengths: the first element in its binding
        lengths: u32,
        lengths_stride: u32,
        /// of the slopes: likewise
        slopes: u32,
        slopes_stride: u32,
        scale: u32 as f32,
        /// `kv_heads` times the batch
        heads: u32,
        reserved: u32,
    }
}

/// The layouts of an attention's operands.
#[derive(Clone, Copy, Debug)]
pub struct AttentionLayouts<'a> {
    /// Queries (batch, heads, queries, dim).
    pub q: &'a Layout,
    /// Keys (batch, key heads, keys, dim).
    pub k: &'a Layout,
    /// Values (batch, key heads, keys, dim of values).
    pub v: &'a Layout,
    /// The bias, which broadcasts to (batch, heads, queries, keys).
    pub bias: Option<&'a Layout>,
    /// The number of keys of each batch.
    pub lengths: Option<&'a Layout>,
    /// The mask of keys (batch, keys).
    pub keep: Option<&'a Layout>,
    /// The slope of each head.
    pub slopes: Option<&'a Layout>,
}

/// What an attention computes besides the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttentionStatistics {
    /// Nothing.
    None,
    /// For each row the largest score, and the logarithm of the sum of exponentials of distances to it. The backward pass needs
    /// both.
    LogSums,
}

/// A checked attention: the shapes fit, no operand is empty, and every size is below $2^{30}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttentionProblem {
    pub(super) dtype: DType,
    pub(super) statistics: AttentionStatistics,
    pub(super) q: Layout,
    pub(super) k: Layout,
    pub(super) v: Layout,
    /// The result, in the order of Q's axes.
    pub(super) y: Layout,
    pub(super) bias: Option<Layout>,
    pub(super) lengths: Option<Layout>,
    pub(super) keep: Option<Layout>,
    pub(super) slopes: Option<Layout>,
    /// The distances from a query to the first key that it attends and to the last.
    pub(super) distances: [i32; 2],
    pub(super) corner: AttentionCorner,
    pub(super) pin: Option<AttentionKernel>,
}

/// There are fewer queries and keys than this, so that their distances fit in 32 bits.
const LONGEST: usize = 1 << 30;
/// A head dim is at most 512, because kernels unroll the loop over it.
const MOST_DIM: usize = 512;
/// A distance that no key has.
const FAR: i32 = 1 << 30;
pub(super) const OP: &str = "attention";

impl AttentionProblem {
    /// An attention of `dtype` elements.
    ///
    /// # Errors
    /// [`Error::Shape`] if an operand does not have four axes, shapes do not fit, the number of heads is no multiple of the number
    /// of key heads, or an operand is empty; [`Error::Limit`] if a size is too large, or a head dim is above 512; [`Error::Input`]
    /// if the corner is at key lengths but there are none, or a causal mask counts from another corner.
    pub fn new(
        layouts: AttentionLayouts<'_>,
        range: AttentionRange,
        statistics: AttentionStatistics,
        dtype: DType,
    ) -> Result<Self> {
        Self::of(&AttentionShape::of(&layouts)?, layouts, range, statistics, dtype)
    }

    /// The same, of the shape of these layouts.
    pub(super) fn of(
        shape: &AttentionShape,
        layouts: AttentionLayouts<'_>,
        range: AttentionRange,
        statistics: AttentionStatistics,
        dtype: DType,
    ) -> Result<Self> {
        let AttentionLayouts { q, k, v, bias, lengths, keep, slopes } = layouts;
        if [q, k, v].iter().any(|of| of.is_empty()) {
            return Err(Error::shapes(OP, "the operands must have elements", q.shape(), k.shape()));
        }
        let longest = shape.queries.max(shape.keys).max(shape.group.saturating_mul(shape.queries));
        let what = "the number of keys, or of the queries of a group of heads";
        Error::check_limit(OP, what, longest as u64, LONGEST as u64 - 1)?;
        Error::check_limit(OP, "a head dim", shape.dim.max(shape.dim_v) as u64, MOST_DIM as u64)?;
        check_corner(range, lengths)?;
        let y = shape.result(q)?;
        dim(OP, y.len())?;
        dim(OP, shape.statistics().iter().product())?;
        let bias = bias.map(|bias| shape.broadcast(bias)).transpose()?;
        let masks = bias.as_ref().into_iter().chain([lengths, keep, slopes].into_iter().flatten());
        [q, k, v].into_iter().chain(masks).try_for_each(|of| of.check_steps(OP))?;
        let own = |of: Option<&Layout>, dtype| of.map(|of| of.in_window(dtype));
        Ok(Self {
            dtype,
            statistics,
            q: q.in_window(dtype),
            k: k.in_window(dtype),
            v: v.in_window(dtype),
            y,
            bias: own(bias.as_ref(), dtype),
            lengths: own(lengths, DType::I32),
            keep: own(keep, DType::I8),
            slopes: own(slopes, DType::F32),
            distances: shape.range(range),
            corner: range.corner,
            pin: None,
        })
    }

    /// The same, computed by this kernel; None: by the fastest one.
    #[must_use]
    pub fn pinned(self, pin: Option<AttentionKernel>) -> Self {
        Self { pin, ..self }
    }

    /// The shaders' uniform, without the fields that depend on the device and the call.
    #[must_use]
    pub fn dims(&self) -> AttentionDims {
        let (q, k, v) = (&self.q, &self.k, &self.v);
        let first = |of: Option<Layout>| of.map_or(0, |of| known(of.offset()));
        let stride = |of: Option<Layout>, axis: usize| of.map_or(0, |of| known(of.strides()[axis]));
        let [kv_heads, keys, dim_v] = [1, 2, 3].map(|axis| known(v.shape()[axis]));
        let [batch, heads, queries, dim] = [0, 1, 2, 3].map(|axis| known(q.shape()[axis]));
        let [lower, upper] = self.distances;
        AttentionDims {
            q: places(q),
            k: places(k),
            v: places(v),
            y: places(&self.y.in_window(self.dtype)),
            bias: [0, 1, 2, 3].map(|axis| stride(self.bias, axis)),
            along: [along(q), along(k), along(v), first(self.bias)],
            queries,
            keys,
            group: heads / kv_heads,
            kv_heads,
            dim,
            dim_v,
            lanes: 1,
            parts: 1,
            lower,
            upper,
            keep: [first(self.keep), stride(self.keep, 0)],
            keep_along: stride(self.keep, 1),
            lengths: first(self.lengths),
            lengths_stride: stride(self.lengths, 0),
            slopes: first(self.slopes),
            slopes_stride: stride(self.slopes, 0),
            heads: batch * kv_heads,
            ..AttentionDims::default()
        }
    }

    /// The number of operands and results.
    pub(super) fn bindings(&self) -> u32 {
        let given = [self.bias, self.lengths, self.keep, self.slopes].iter().flatten().count();
        let wants_lse = self.statistics == AttentionStatistics::LogSums;
        4 + u32::from(wants_lse) + u32::try_from(given).unwrap_or(u32::MAX)
    }

    /// How kernels move elements: in vectors if the rows of all operands consist of whole vectors.
    pub(super) fn moves(&self) -> Moves {
        let d = self.dims();
        let places = [d.q, d.k, d.v, d.y].into_iter().flatten();
        Moves::of(self.dtype, d.along[..3].iter().copied(), places.chain([d.dim, d.dim_v]))
    }

    /// The elements that an invocation loads together.
    pub(super) fn width(&self) -> u32 {
        width(self.moves(), self.dtype)
    }

    /// Queries of all heads and batches.
    pub(super) fn rows(&self) -> usize {
        let d = self.dims();
        d.heads as usize * d.group as usize * d.queries as usize
    }

    /// Operations of the plain kernel.
    pub(super) fn plain_flops(&self) -> f64 {
        let d = self.dims();
        let pairs = self.rows() as f64 * f64::from(d.keys);
        pairs * (2.0 * f64::from(d.dim) + 2.0 * f64::from(d.dim_v) + 1.0)
    }
}

/// The first element of an operand in its binding, then its strides of batch, head and row.
pub(super) fn places(of: &Layout) -> [u32; 4] {
    let strides = of.strides();
    [of.offset(), strides[0], strides[1], strides[2]].map(known)
}

/// The stride of an operand along the head dim.
pub(super) fn along(of: &Layout) -> u32 {
    known(of.strides()[3])
}

/// Checks that the causal mask counts from the same corner.
fn check_corner(range: AttentionRange, lengths: Option<&Layout>) -> Result<()> {
    if range.corner == AttentionCorner::Keys {
        return Ok(());
    }
    if range.causal == Some(CausalFrom::TopLeft) {
        let why =
            "with cached lengths it must count from `CausalFrom::BottomRight`, where the new queries are";
        return Err(Error::input(format!("{OP}: the causal mask"), why));
    }
    if lengths.is_none() {
        return Err(Error::input(format!("{OP}: the cached lengths"), "there are none"));
    }
    Ok(())
}

/// The elements of a group, which an invocation loads together.
pub(super) fn width(moves: Moves, dtype: DType) -> u32 {
    match moves {
        Moves::Elements => 4,
        Moves::Vectors => per_vector(dtype),
    }
}

/// The extents of an attention.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttentionShape {
    pub(super) batch: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    /// Query heads per key head.
    pub(super) group: usize,
    pub(super) queries: usize,
    pub(super) keys: usize,
    pub(super) dim: usize,
    pub(super) dim_v: usize,
}

impl AttentionShape {
    /// The extents, if the operands fit.
    pub(super) fn of(layouts: &AttentionLayouts<'_>) -> Result<Self> {
        let AttentionLayouts { q, k, v, lengths, keep, slopes, .. } = *layouts;
        let four = |name: &str, of: &Layout| -> Result<[usize; 4]> {
            <[usize; 4]>::try_from(of.shape()).map_err(|_| Error::Shape {
                op: OP,
                rule: format!("{name} must have the axes (batch, heads, length, dim)").into(),
                remedy: "",
                lhs: of.shape().to_vec(),
                rhs: None,
            })
        };
        let [batch, heads, queries, dim] = four("the queries", q)?;
        let [k_batch, kv_heads, keys, k_dim] = four("the keys", k)?;
        let [v_batch, v_heads, v_keys, dim_v] = four("the values", v)?;
        if k_batch != batch || k_dim != dim {
            let rule = "queries and keys must have the same batch and dim";
            return Err(Error::shapes(OP, rule, q.shape(), k.shape()));
        }
        if [v_batch, v_heads, v_keys] != [batch, kv_heads, keys] {
            let rule = "keys and values must have the same batch, heads and length";
            return Err(Error::shapes(OP, rule, k.shape(), v.shape()));
        }
        if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            let rule = "the number of heads must be a multiple of the number of key heads";
            return Err(Error::shapes(OP, rule, q.shape(), k.shape()));
        }
        let fits = |of: Option<&Layout>, shape: &[usize], rule| match of {
            Some(of) if of.shape() != shape => Err(Error::shapes(OP, rule, of.shape(), shape)),
            _ => Ok(()),
        };
        fits(lengths, &[batch], "there must be one key length per batch")?;
        fits(keep, &[batch, keys], "the mask of keys must have the axes (batch, keys)")?;
        fits(slopes, &[heads], "there must be one slope per head")?;
        Ok(Self { batch, heads, kv_heads, group: heads / kv_heads, queries, keys, dim, dim_v })
    }

    /// The bias, broadcast to the scores.
    pub(super) fn broadcast(&self, bias: &Layout) -> Result<Layout> {
        let scores = [self.batch, self.heads, self.queries, self.keys];
        let rule = "the bias must broadcast to (batch, heads, queries, keys)";
        bias.broadcast_to(&scores).map_err(|_| Error::shapes(OP, rule, bias.shape(), &scores))
    }

    /// The result: in memory, the order of heads and queries is that of Q.
    pub(super) fn result(&self, q: &Layout) -> Result<Layout> {
        let shape = [self.batch, self.heads, self.queries, self.dim_v];
        let [by_head, by_query] = [q.strides()[1], q.strides()[2]];
        if self.heads > 1 && self.queries > 1 && by_head < by_query {
            let [batch, heads, queries, dim] = shape;
            return Layout::contiguous(OP, &[batch, queries, heads, dim])?.permute(&[0, 2, 1, 3]);
        }
        Layout::contiguous(OP, &shape)
    }

    /// The shape of the statistics for the backward pass: two numbers for each query.
    pub(super) fn statistics(&self) -> [usize; 4] {
        [self.batch, self.heads, self.queries, 2]
    }

    /// The distances from a query to the first key that it attends and to the last.
    fn range(&self, range: AttentionRange) -> [i32; 2] {
        // There are fewer than 2^30 queries and keys.
        let signed = |size: usize| i32::try_from(size.min(LONGEST)).unwrap_or(FAR);
        let corner = signed(self.keys) - signed(self.queries);
        let causal = match range.causal {
            None => FAR,
            Some(CausalFrom::TopLeft) => 0,
            Some(CausalFrom::BottomRight) => corner,
        };
        let right = range.right.map_or(FAR, |right| corner.saturating_add(signed(right)).min(FAR));
        let lower = range.left.map_or(-FAR, |left| corner.saturating_sub(signed(left)).max(-FAR));
        [lower, causal.min(right)]
    }
}
