//! A checked backward pass, as plain data.

use crate::attention::problem::{AttentionProblem, AttentionShape, AttentionStatistics, along, places};
use crate::attention::range::AttentionCorner;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim, known};
use crate::ops::vectors::Moves;
use crate::{Error, Result};

pub(super) const OP: &str = "attention_backward";

shader_dims! {
    /// The uniform of `shaders/attention/attention_dq.wgsl`, `attention_dkv.wgsl` and `attention_dbias.wgsl`, in
    /// elements. The call passes `scale`.
    pub struct AttentionBackwardDims {
        /// of Q: the first element in its binding, then the strides of batch, head and query
        q: [u32; 4],
        /// of K: likewise, and of the keys
        k: [u32; 4],
        /// of V
        v: [u32; 4],
        /// of the gradient of the result
        g: [u32; 4],
        /// of the gradient of Q
        dq: [u32; 4],
        /// of K
        dk: [u32; 4],
        /// of V
        dv: [u32; 4],
        /// strides of the bias: batch, head, query, key
        bias: [u32; 4],
        /// strides along the head dims of Q, K and V; then the bias's first element in its binding
        along: [u32; 4],
        /// of the given bias: 1, or batch, heads, queries, keys
        bias_shape: [u32; 4],
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
        /// the stride along the head dim of the gradient of the result
        along_g: u32,
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
        batches: u32,
        /// `kv_heads` times the batches
        heads: u32,
    }
}

shader_dims! {
    /// The uniform of `shaders/attention/attention_delta.wgsl`, in elements.
    pub struct AttentionDeltaDims {
        /// of the result: the first element in its binding, then the strides of batch, head and query
        y: [u32; 4],
        /// of its gradient
        g: [u32; 4],
        /// strides along the head dim
        along_y: u32,
        along_g: u32,
        /// the first of both numbers in its binding
        lse: u32,
        /// of a batch
        heads: u32,
        queries: u32,
        /// batches * heads * queries
        rows: u32,
        dim_v: u32,
        reserved: u32,
    }
}

/// The operands whose gradients a backward pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttentionGradientsOf {
    /// Of queries, keys and values.
    Operands,
    /// Of a bias of this shape, in the type of the operands. Leading axes may be missing.
    Bias(Layout),
    /// The same in f32, for partial sums.
    PartOfBias(Layout),
}

/// A checked backward pass of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttentionBackward {
    /// The forward pass: operands, masks and sizes.
    pub(super) forward: AttentionProblem,
    pub(super) of: AttentionGradientsOf,
    pub(super) y: Layout,
    pub(super) g: Layout,
    pub(super) lse: Layout,
    /// The gradient of the queries.
    pub(super) dq: Layout,
    /// The gradient of the keys.
    pub(super) dk: Layout,
    /// That of the values. It follows in the same buffer, so that a step has few bindings.
    pub(super) dv: Layout,
}

impl AttentionBackward {
    /// The backward pass of an attention, from its result, the largest scores and logarithms of its sums, and the gradient of the
    /// result.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the result and its gradient have the shape (batch, heads, queries, dim of values), and the
    /// logarithms (batch, heads, queries, 2), contiguous; [`Error::Limit`] if a size is too large; [`Error::Input`] if distances
    /// count from key lengths.
    pub fn new(
        forward: AttentionProblem,
        [y, lse, g]: [&Layout; 3],
        of: AttentionGradientsOf,
    ) -> Result<Self> {
        if forward.corner == AttentionCorner::Lengths {
            let why = "they have no backward pass: pass views of the keys that there are, without lengths";
            return Err(Error::input(format!("{OP}: the cached lengths"), why));
        }
        let shape = AttentionShape::of_problem(&forward);
        let [dq, dk, dv] = shape.gradients([&forward.q, &forward.k, &forward.v])?;
        dim(OP, dv.offset() + dv.len())?;
        shape.fits_backward([y, lse, g])?;
        dim(OP, lse.len())?;
        let dtype = forward.dtype;
        let (y, g, lse) = (y.in_window(dtype), g.in_window(dtype), lse.in_window(DType::F32));
        [&y, &g].into_iter().try_for_each(|of| of.check_steps(OP))?;
        dq.strides().iter().try_for_each(|&stride| dim(OP, stride).map(drop))?;
        if let AttentionGradientsOf::Bias(bias) | AttentionGradientsOf::PartOfBias(bias) = &of {
            if forward.bias.is_none() || !bias.is_contiguous() || bias.offset() > 0 {
                let rule = "the gradient of a bias must be contiguous, and there must be a bias";
                return Err(Error::shape(OP, rule, bias.shape()));
            }
            shape.broadcast(bias)?;
        }
        Ok(Self { forward, of, y, g, lse, dq, dk, dv })
    }

    /// The uniform of the kernels of gradients, without the fields that depend on the device and the call.
    pub(super) fn dims(&self) -> AttentionBackwardDims {
        let mut bias_shape = [1; 4];
        if let Some(bias) = self.bias_gradient() {
            let missing = bias_shape.len() - bias.rank();
            for (to, &extent) in bias_shape[missing..].iter_mut().zip(bias.shape()) {
                *to = known(extent);
            }
        }
        let d = self.forward.dims();
        AttentionBackwardDims {
            q: d.q,
            k: d.k,
            v: d.v,
            g: places(&self.g),
            dq: places(&self.dq),
            dk: places(&self.dk),
            dv: places(&self.dv),
            bias: d.bias,
            along: d.along,
            bias_shape,
            queries: d.queries,
            keys: d.keys,
            group: d.group,
            kv_heads: d.kv_heads,
            dim: d.dim,
            dim_v: d.dim_v,
            lanes: 1,
            along_g: along(&self.g),
            lower: d.lower,
            upper: d.upper,
            keep: d.keep,
            keep_along: d.keep_along,
            lengths: d.lengths,
            lengths_stride: d.lengths_stride,
            slopes: d.slopes,
            slopes_stride: d.slopes_stride,
            scale: 0,
            batches: d.heads / d.kv_heads,
            heads: d.heads,
        }
    }

    /// The uniform of the kernel of statistics.
    pub(super) fn delta_dims(&self) -> AttentionDeltaDims {
        let d = self.forward.dims();
        AttentionDeltaDims {
            y: places(&self.y),
            g: places(&self.g),
            along_y: along(&self.y),
            along_g: along(&self.g),
            lse: known(self.lse.offset()),
            heads: d.group * d.kv_heads,
            queries: d.queries,
            rows: known(self.forward.rows()),
            dim_v: d.dim_v,
            reserved: 0,
        }
    }

    /// The number of operands and results of a kernel of gradients: those of the forward pass (with the gradient of the result in
    /// place of the result), the statistics, and the computed gradients.
    pub(super) fn bindings(&self) -> u32 {
        let alone = AttentionProblem { statistics: AttentionStatistics::None, ..self.forward };
        alone.bindings() + 2
    }

    /// How the first kernel moves elements.
    pub(super) fn delta_moves(&self) -> Moves {
        let d = self.delta_dims();
        let places = [d.y, d.g].into_iter().flatten();
        Moves::of(self.forward.dtype, [d.along_y, d.along_g], places.chain([d.dim_v]))
    }

    /// How the kernels of the operands' gradients move elements.
    pub(super) fn moves(&self) -> Moves {
        let d = self.dims();
        let places = [d.q, d.k, d.v, d.g, d.dq, d.dk, d.dv].into_iter().flatten();
        let along = d.along[..3].iter().copied().chain([d.along_g]);
        Moves::of(self.forward.dtype, along, places.chain([d.dim, d.dim_v]))
    }

    /// The gradient of the bias, if it is computed.
    pub(super) fn bias_gradient(&self) -> Option<Layout> {
        match self.of {
            AttentionGradientsOf::Operands => None,
            AttentionGradientsOf::Bias(bias) | AttentionGradientsOf::PartOfBias(bias) => Some(bias),
        }
    }

    /// The type of the gradient of a bias.
    pub(super) fn bias_dtype(&self) -> DType {
        match self.of {
            AttentionGradientsOf::PartOfBias(_) => DType::F32,
            AttentionGradientsOf::Bias(_) | AttentionGradientsOf::Operands => self.forward.dtype,
        }
    }

    /// The number of scores.
    pub(super) fn pairs(&self) -> f64 {
        self.forward.rows() as f64 * f64::from(self.forward.dims().keys)
    }

    /// The rows of each key head whose gradients a pass computes, and the keys or queries that each of them meets.
    pub(super) fn rows_and_others(&self, pass: GradientPass) -> [u32; 2] {
        let d = self.forward.dims();
        let (queries, keys) = (d.group * d.queries, d.keys);
        match pass {
            GradientPass::Queries => [queries, keys],
            GradientPass::KeysAndValues => [keys, queries],
        }
    }
}

/// The operands whose gradients a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GradientPass {
    Queries,
    KeysAndValues,
}

impl GradientPass {
    /// Operations on a pair of a query and a key: per element of the head dim of queries, and per element of the head dim of
    /// values.
    pub(super) fn products(self) -> [f64; 2] {
        match self {
            Self::Queries => [4.0, 2.0],
            Self::KeysAndValues => [4.0, 4.0],
        }
    }
}

impl AttentionShape {
    /// The extents of a checked attention.
    pub(super) fn of_problem(problem: &AttentionProblem) -> Self {
        let [q, v] = [&problem.q, &problem.v].map(Layout::shape);
        let (heads, kv_heads) = (q[1], v[1]);
        Self {
            batch: q[0],
            heads,
            kv_heads,
            group: heads / kv_heads,
            queries: q[2],
            keys: v[2],
            dim: q[3],
            dim_v: v[3],
        }
    }

    /// The gradients of queries, keys and values, in the order of their axes. The gradient of the values follows that of the
    /// keys.
    pub(super) fn gradients(&self, [q, k, v]: [&Layout; 3]) -> Result<[Layout; 3]> {
        let of_keys =
            |of: &Layout, dim_v| Self { heads: self.kv_heads, queries: self.keys, dim_v, ..*self }.result(of);
        let [dk, dv] = [of_keys(k, self.dim)?, of_keys(v, self.dim_v)?];
        let dv = Layout::new(OP, dv.shape(), dv.strides(), dk.len(), usize::MAX)?;
        Ok([Self { dim_v: self.dim, ..*self }.result(q)?, dk, dv])
    }

    /// The shape of the parts of the gradient of a bias of this shape, and the axes along which they are added up. None if the bias
    /// has an element for each query and key, because it then has enough elements to occupy a device, or if there is nothing to add
    /// up.
    pub(super) fn parts_of_bias(&self, bias: &[usize]) -> Option<([usize; 4], Vec<usize>)> {
        let mut own = [1; 4];
        own[4 - bias.len()..].copy_from_slice(bias);
        if own[2..] == [self.queries, self.keys] {
            return None;
        }
        let parts = [self.batch, self.heads, if own[3] == 1 { self.queries } else { own[2] }, own[3]];
        let axes: Vec<usize> = (0..4).filter(|&axis| own[axis] != parts[axis]).collect();
        (!axes.is_empty()).then_some((parts, axes))
    }

    /// Checks the result, the logarithms and the gradient of the result.
    pub(super) fn fits_backward(&self, [y, lse, g]: [&Layout; 3]) -> Result<()> {
        let result = [self.batch, self.heads, self.queries, self.dim_v];
        for (of, rule) in [
            (y, "the result must have the shape (batch, heads, queries, dim of values)"),
            (g, "the gradient must have the shape of the result"),
        ] {
            if of.shape() != result {
                return Err(Error::shapes(OP, rule, of.shape(), &result));
            }
        }
        if lse.shape() != self.statistics() || !lse.is_contiguous() {
            let rule = "the logarithms must be contiguous and of the shape (batch, heads, queries, 2)";
            return Err(Error::shapes(OP, rule, lse.shape(), &self.statistics()));
        }
        Ok(())
    }
}
