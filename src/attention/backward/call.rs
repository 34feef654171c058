//! Computes the gradients of an attention.

use super::problem::{AttentionBackward, AttentionGradientsOf};
use crate::attention::call::{gpu_of, layouts, scale_of, views};
use crate::attention::options::AttentionOptions;
use crate::attention::problem::{AttentionProblem, AttentionShape, AttentionStatistics};
use crate::error::call;
use crate::gpu::View;
use crate::layout::{Layout, Real};
use crate::ops;
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The gradients of an [`attention`](crate::attention::attention) with respect to its operands. Those of keys and values share a buffer.
#[derive(Clone, Debug)]
pub struct AttentionGradients<T: Real> {
    /// Of the queries.
    pub q: Tensor<T>,
    /// Of the keys.
    pub k: Tensor<T>,
    /// Of the values.
    pub v: Tensor<T>,
}

/// The gradients of an [`attention`](crate::attention::attention) of `q`, `k` and `v`. `y` is its result, `lse` its largest scores
/// and logarithms ([`attention_with_lse`](crate::attention::attention_with_lse)), and `grad` the gradient of `y`.
///
/// With the weights $p_{ij} = e^{(s_{ij} - m_{i}) - l_{i}}$, which are recomputed from the two parts $m_{i}$ and $l_{i}$ of `lse`,
/// and $\delta_{i} = y_{i} \cdot g_{i}$, the gradient of the scores is $t_{ij} = p_{ij} (g_{i} \cdot v_{j} - \delta_{i})$; those of
/// the operands are $\nabla q_{i} = s \sum_{j} t_{ij} k_{j}$, $\nabla k_{j} = s \sum_{i} t_{ij} q_{i}$ and $\nabla v_{j} = \sum_{i}
/// p_{ij} g_{i}$, summed over the heads of a group. Queries that attend no key have the gradient 0, and so do masked keys and
/// values.
///
/// # Shapes
/// Operands as in [`attention`](crate::attention::attention); `y` and `grad` (batch, heads, $L$, dim of values), any strides; `lse`
/// (batch, heads, $L$, 2), contiguous. The gradients have the shapes of their operands, and the same order of axes in memory.
/// # Errors
/// As [`attention`](crate::attention::attention), and [`Error::Shape`] if `y`, `lse` or `grad` do not fit.
/// # Precision
/// Computed in f32 in a fixed order, so that equal calls give equal bits, then stored:
/// [`reference::AttentionReference::gradients`](crate::reference::AttentionReference::gradients). On cooperative matrices
/// ([`AttentionKernel::Coop`](crate::attention::AttentionKernel::Coop)), for f16 operands only, weights and gradients of scores are
/// scaled by a power of two that preserves their digits, and rounded to f16 before they multiply operands. With this kernel, the
/// gradients of everything that attends an infinite element or NaN are not finite either.
/// # Launches
/// Three: $\delta$, the gradient of the queries, and those of the keys and values. Temporary memory is four numbers for each query.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::attention::{AttentionOptions, attention_backward, attention_with_lse};
///
/// let [q, k, v, grad] = [1, 2, 3, 4].map(|seed| gpu.random::<f32>([1, 2, 6, 8], Fill::Uniform, seed));
/// let (q, k, v, grad) = (q?, k?, v?, grad?);
/// let options = AttentionOptions::new();
/// let (y, lse) = attention_with_lse(&q, &k, &v, &options)?;
/// let gradients = attention_backward(&q, &k, &v, &y, &lse, &grad, &options)?;
/// assert_eq!(gradients.k.shape(), k.shape());
/// # Ok(())
/// # }
/// ```
pub fn attention_backward<T: Real>(
    q: &Tensor<T>,
    k: &Tensor<T>,
    v: &Tensor<T>,
    y: &Tensor<T>,
    lse: &Tensor<f32>,
    grad: &Tensor<T>,
    options: &AttentionOptions<'_, T>,
) -> Result<AttentionGradients<T>> {
    const OP: &str = "attention_backward";
    call(OP, || {
        let pass = BackwardOperands { q, k, v, y, lse, grad, options };
        let [dq, dk, dv] = pass.check(OP)?.gradients([q.layout(), k.layout(), v.layout()])?;
        if pass.has_nothing() {
            let zeros = |of: &Tensor<T>| q.gpu().zeros(of.shape());
            return Ok(AttentionGradients { q: zeros(q)?, k: zeros(k)?, v: zeros(v)? });
        }
        let (problem, scalars) = pass.problem(OP, AttentionGradientsOf::Operands)?;
        let [of_q, of_k_and_v] = q.gpu().compute(&problem, &pass.views(), &scalars)?;
        let of_k_and_v = Tensor::from_output(of_k_and_v, [dk.len() + dv.len()])?;
        let part = |of: Layout| of_k_and_v.as_strided(of.shape(), of.strides(), of.offset());
        Ok(AttentionGradients { q: Tensor::from_output_as(of_q, dq), k: part(dk)?, v: part(dv)? })
    })
}

/// The gradient of the bias of the options; [`attention_backward`] computes those of the operands. It is $t_{ij}$, summed over the
/// axes along which the bias broadcasts. The scores are recomputed, and never in memory.
///
/// # Shapes
/// As [`attention_backward`]. The result has the shape of the bias.
/// # Errors
/// As [`attention_backward`], and [`Error::Input`] if the options have no bias.
/// # Precision
/// Computed in f32 in a fixed order, then stored:
/// [`reference::AttentionReference::bias_gradient`](crate::reference::AttentionReference::bias_gradient).
/// # Launches
/// Two. If the bias broadcasts along queries or keys, it has few elements, and each is a long sum. Then partial sums are computed
/// in f32 (at most one for each query and for each key of each head), and added up in one or two launches; f16 and bf16 take one
/// more.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::attention::{AttentionOptions, attention_bias_backward, attention_with_lse};
///
/// let [q, k, v, grad] = [1, 2, 3, 4].map(|seed| gpu.random::<f32>([3, 2, 6, 8], Fill::Uniform, seed));
/// let (q, k, v, grad) = (q?, k?, v?, grad?);
/// let bias = gpu.zeros::<f32>([2, 6, 6])?; // one for all batches
/// let options = AttentionOptions::new().bias(&bias);
/// let (y, lse) = attention_with_lse(&q, &k, &v, &options)?;
/// let gradient = attention_bias_backward(&q, &k, &v, &y, &lse, &grad, &options)?;
/// assert_eq!(gradient.shape(), [2, 6, 6]);
/// # Ok(())
/// # }
/// ```
pub fn attention_bias_backward<T: Real>(
    q: &Tensor<T>,
    k: &Tensor<T>,
    v: &Tensor<T>,
    y: &Tensor<T>,
    lse: &Tensor<f32>,
    grad: &Tensor<T>,
    options: &AttentionOptions<'_, T>,
) -> Result<Tensor<T>> {
    const OP: &str = "attention_bias_backward";
    call(OP, || {
        let pass = BackwardOperands { q, k, v, y, lse, grad, options };
        let bias =
            options.bias.ok_or_else(|| Error::input(format!("{OP}: the options"), "they have no bias"))?;
        let shape = pass.check(OP)?;
        if pass.has_nothing() || bias.is_empty() {
            return q.gpu().zeros(bias.shape());
        }
        let Some((parts, axes)) = shape.parts_of_bias(bias.shape()) else {
            let layout = Layout::contiguous(OP, bias.shape())?;
            let (problem, scalars) = pass.problem(OP, AttentionGradientsOf::Bias(layout))?;
            let [made] = q.gpu().compute(&problem, &pass.views(), &scalars)?;
            return Tensor::from_output(made, bias.shape());
        };
        let layout = Layout::contiguous(OP, &parts)?;
        let (problem, scalars) = pass.problem(OP, AttentionGradientsOf::PartOfBias(layout))?;
        let [made] = q.gpu().compute(&problem, &pass.views(), &scalars)?;
        let sums = ops::sum(&Tensor::<f32>::from_output(made, parts)?, axes.as_slice())?;
        sums.reshape(bias.shape())?.cast()
    })
}

/// The operands of a backward pass.
struct BackwardOperands<'a, T: Real> {
    q: &'a Tensor<T>,
    k: &'a Tensor<T>,
    v: &'a Tensor<T>,
    y: &'a Tensor<T>,
    lse: &'a Tensor<f32>,
    grad: &'a Tensor<T>,
    options: &'a AttentionOptions<'a, T>,
}

impl<T: Real> BackwardOperands<'_, T> {
    /// Checks devices and shapes.
    fn check(&self, op: &'static str) -> Result<AttentionShape> {
        gpu_of(op, self.q, self.k, self.v, self.options)?;
        self.q.same_gpu(op, self.y)?;
        self.q.same_gpu(op, self.lse)?;
        self.q.same_gpu(op, self.grad)?;
        let shape = AttentionShape::of(&layouts(self.q, self.k, self.v, self.options))?;
        shape.fits_backward([self.y.layout(), self.lse.layout(), self.grad.layout()])?;
        scale_of(op, self.options, shape.dim)?;
        Ok(shape)
    }

    /// Whether all gradients are 0.
    fn has_nothing(&self) -> bool {
        self.q.is_empty() || self.k.is_empty() || self.v.is_empty()
    }

    /// The problem, and the scalars of the call.
    fn problem(
        &self,
        op: &'static str,
        of: AttentionGradientsOf,
    ) -> Result<(AttentionBackward, [Scalar; 1])> {
        let layouts = layouts(self.q, self.k, self.v, self.options);
        let scale = scale_of(op, self.options, self.q.shape()[3])?;
        let none = AttentionStatistics::None;
        let forward = AttentionProblem::new(layouts, self.options.range(), none, T::DTYPE)?;
        let forward = forward.pinned(self.options.kernel);
        let rows = [self.y.layout(), self.lse.layout(), self.grad.layout()];
        Ok((AttentionBackward::new(forward, rows, of)?, [Scalar::F32(scale)]))
    }

    /// The operands in the order of the plan.
    fn views(&self) -> Vec<View<'_>> {
        let operands = [self.q, self.k, self.v, self.y].map(Tensor::view);
        operands.into_iter().chain([self.lse.view(), self.grad.view()]).chain(views(self.options)).collect()
    }
}
