//! Computes attention.

use super::options::AttentionOptions;
use super::problem::{AttentionLayouts, AttentionProblem, AttentionShape, AttentionStatistics};
use crate::error::call;
use crate::gpu::{Gpu, View};
use crate::layout::Real;
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Attention: $\mathrm{softmax}(s\\, Q K^T + B)\\, V$, with the scale $s$ and the masks and biases of the options. The scores are never in memory.
///
/// The result of a query that attends no key is 0. Masked keys and values may have any elements, even NaN, unless a bias masks
/// them. A score that is NaN or $+\infty$ makes its row NaN.
///
/// # Shapes
/// Queries (batch, heads, $L$, dim), keys (batch, key heads, $S$, dim) and values (batch, key heads, $S$, dim of values), any
/// strides: a permuted view of (batch, length, heads, dim) needs no copy. The number $H$ of heads is a multiple of the number $k$
/// of key heads, and head $h$ has key head $\lfloor h k / H \rfloor$ (grouped or multi-query attention). The result is (batch,
/// heads, $L$, dim of values). In memory its axes have the order of the queries' axes: if the queries are a permuted view of
/// (batch, length, heads, dim), so is the result.
/// # Errors
/// [`Error::Shape`] if operands, masks or biases do not fit; [`Error::Input`] if the scale is not finite; [`Error::Gpu`] if
/// operands are on different devices; [`Error::Limit`] if a head dim is above 512, there are $2^{30}$ keys or queries of a group or
/// more, or the queries, keys, values or biases of one batch (of one head, if each has its own keys) exceed the device's binding
/// size; [`Error::Unsupported`] if there are more operands than the device's bindings, or a pinned kernel cannot run;
/// [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::AttentionReference`](crate::reference::AttentionReference). On
/// cooperative matrices ([`AttentionKernel::Coop`](super::AttentionKernel::Coop), for f16 operands only), weights are rounded to
/// f16 before they multiply values.
/// # Launches
/// One, or two if there are so few queries that the keys are cut into parts.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::attention::{AttentionOptions, attention};
///
/// let q = gpu.tensor(&[1.0f32, 0.0], [1, 1, 1, 2])?; // one query
/// let k = gpu.tensor(&[100.0f32, 0.0, 0.0, 0.0], [1, 1, 2, 2])?; // two keys: the first one fits
/// let v = gpu.tensor(&[3.0f32, 4.0, 5.0, 6.0], [1, 1, 2, 2])?;
/// assert_eq!(attention(&q, &k, &v, &AttentionOptions::new())?.to_vec()?, [3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub fn attention<T: Real>(
    q: &Tensor<T>,
    k: &Tensor<T>,
    v: &Tensor<T>,
    options: &AttentionOptions<'_, T>,
) -> Result<Tensor<T>> {
    call("attention", || {
        let operands = AttentionOperands { q, k, v, options };
        Ok(run("attention", operands, AttentionStatistics::None)?.0)
    })
}

/// [`attention`], and the logarithm of each row's sum of exponentials (log-sum-exp) in two parts, which the backward pass needs: the largest
/// score $m_{i}$, and $l_{i} = \ln \sum_{j} e^{s_{ij} - m_{i}}$. Their sum is the logarithm. Both are minus infinity for a query that attends no key.
///
/// One f32 would not suffice: if a bias of $-10^{9}$ masks all keys of a query, $m_{i} + l_{i}$ rounds to $m_{i}$, and the number
/// of keys that share the weight is lost.
///
/// # Shapes
/// As [`attention`]; the two parts are the last axis of (batch, heads, $L$, 2).
/// # Errors
/// As [`attention`].
/// # Precision
/// As [`attention`].
/// # Launches
/// As [`attention`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, ops};
/// use tilewise::attention::{AttentionOptions, attention_with_lse};
///
/// let x = gpu.random::<f32>([1, 2, 4, 8], Fill::Uniform, 1)?;
/// let bias = gpu.tensor(&[-1e9f32; 4], [4])?; // masks all keys alike
/// let (_, lse) = attention_with_lse(&x, &x, &x, &AttentionOptions::new().bias(&bias))?;
/// assert_eq!(lse.shape(), [1, 2, 4, 2]);
/// let parts = lse.to_vec()?;
/// assert!(parts[0] == -1e9 && (parts[1] - 4f32.ln()).abs() < 1e-5); // four keys share the weight
/// assert_eq!(ops::sum(&lse, 3)?.shape(), [1, 2, 4]); // m + l, as other libraries return it
/// # Ok(())
/// # }
/// ```
pub fn attention_with_lse<T: Real>(
    q: &Tensor<T>,
    k: &Tensor<T>,
    v: &Tensor<T>,
    options: &AttentionOptions<'_, T>,
) -> Result<(Tensor<T>, Tensor<f32>)> {
    const OP: &str = "attention_with_lse";
    call(OP, || {
        let operands = AttentionOperands { q, k, v, options };
        let (y, lse) = run(OP, operands, AttentionStatistics::LogSums)?;
        Ok((y, lse.ok_or_else(|| Error::device(format!("{OP}: a result is missing")))?))
    })
}

/// The result, and the largest scores with the logarithms of the sums if the call returns them.
fn run<T: Real>(
    op: &'static str,
    operands: AttentionOperands<'_, T>,
    statistics: AttentionStatistics,
) -> Result<(Tensor<T>, Option<Tensor<f32>>)> {
    let (gpu, layouts) = (operands.gpu(op)?, operands.layouts());
    let shape = AttentionShape::of(&layouts)?;
    let scale = operands.scale(op)?;
    let AttentionOperands { q, k, v, options } = operands;
    let of_rows = shape.statistics();
    let wants_lse = statistics == AttentionStatistics::LogSums;
    let y = shape.result(q.layout())?;
    if operands.has_nothing() {
        options.bias.map(|bias| shape.broadcast(bias.layout())).transpose()?;
        if shape.dim.min(shape.dim_v) == 0 && shape.keys.min(shape.queries) > 0 {
            return Err(Error::shapes(op, "the head dims must not be 0", q.shape(), v.shape()));
        }
        let lse = || crate::ops::log(&gpu.zeros::<f32>(of_rows)?);
        let zeros = gpu.zeros::<T>([y.len()])?.as_strided(y.shape(), y.strides(), 0)?;
        return Ok((zeros, wants_lse.then(lse).transpose()?));
    }
    let problem =
        AttentionProblem::of(&shape, layouts, options.range(), statistics, T::DTYPE)?.pinned(options.kernel);
    let [of_k, of_v] = match options.filled {
        None => [k.view(), v.view()],
        Some([of_k, of_v]) => [k.view().using(of_k), v.view().using(of_v)],
    };
    let mut inputs: Vec<View<'_>> = vec![q.view(), of_k, of_v];
    inputs.extend(operands.masks());
    if wants_lse {
        let [made, lse] = gpu.compute(&problem, &inputs, &[scale])?;
        return Ok((Tensor::from_allocation(made, y), Some(Tensor::from_output(lse, of_rows)?)));
    }
    let [made] = gpu.compute(&problem, &inputs, &[scale])?;
    Ok((Tensor::from_allocation(made, y), None))
}

/// The tensors and options of an attention.
#[derive(Clone, Copy)]
pub(super) struct AttentionOperands<'a, T: Real> {
    pub(super) q: &'a Tensor<T>,
    pub(super) k: &'a Tensor<T>,
    pub(super) v: &'a Tensor<T>,
    pub(super) options: &'a AttentionOptions<'a, T>,
}

impl<'a, T: Real> AttentionOperands<'a, T> {
    /// The bias and masks, in the order of the plan.
    pub(super) fn masks(&self) -> impl Iterator<Item = View<'a>> {
        let AttentionOptions { bias, lengths, keep, slopes, .. } = *self.options;
        let [bias, slopes] = [bias.map(Tensor::view), slopes.map(Tensor::view)];
        [bias, lengths.map(Tensor::view), keep.map(Tensor::view), slopes].into_iter().flatten()
    }

    /// The device of all.
    pub(super) fn gpu(&self, op: &'static str) -> Result<&'a Gpu> {
        let Self { q, k, v, options } = *self;
        q.same_gpu(op, k)?;
        q.same_gpu(op, v)?;
        options.bias.map(|of| q.same_gpu(op, of)).transpose()?;
        options.lengths.map(|of| q.same_gpu(op, of)).transpose()?;
        options.keep.map(|of| q.same_gpu(op, of)).transpose()?;
        options.slopes.map(|of| q.same_gpu(op, of)).transpose()?;
        Ok(q.gpu())
    }

    pub(super) fn layouts(&self) -> AttentionLayouts<'a> {
        AttentionLayouts {
            q: self.q.layout(),
            k: self.k.layout(),
            v: self.v.layout(),
            bias: self.options.bias.map(Tensor::layout),
            lengths: self.options.lengths.map(Tensor::layout),
            keep: self.options.keep.map(Tensor::layout),
            slopes: self.options.slopes.map(Tensor::layout),
        }
    }

    /// Whether there are no scores, or none to sum.
    pub(super) fn has_nothing(&self) -> bool {
        self.q.is_empty() || self.k.is_empty() || self.v.is_empty()
    }

    /// The scale of the products. The queries have four axes.
    #[expect(clippy::cast_possible_truncation, reason = "the scale is rounded to f32")]
    pub(super) fn scale(&self, op: &'static str) -> Result<Scalar> {
        match self.options.scale {
            Some(scale) if !scale.is_finite() => {
                Err(Error::input(format!("{op}: the scale"), format!("it must be finite, not {scale}")))
            }
            Some(scale) => Ok(Scalar::F32(scale)),
            None => Ok(Scalar::F32((1.0 / (self.q.shape()[3].max(1) as f64).sqrt()) as f32)),
        }
    }
}
