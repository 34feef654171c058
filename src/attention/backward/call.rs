//! Computes the gradients of an attention.

use super::problem::{AttentionBackward, AttentionGradientsOf};
use crate::attention::call::AttentionOperands;
use crate::attention::options::AttentionOptions;
use crate::attention::problem::{AttentionProblem, AttentionShape, AttentionStatistics};
use crate::error::call;
use crate::gpu::View;
use crate::layout::{Layout, Real};
use crate::ops;
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
        let pass = BackwardOperands { forward: AttentionOperands { q, k, v, options }, y, lse, grad };
        let [dq, dk, dv] = pass.check(OP)?.gradients([q.layout(), k.layout(), v.layout()])?;
        if pass.forward.has_nothing() {
            let zeros = |of: &Tensor<T>| q.gpu().zeros(of.shape());
            return Ok(AttentionGradients { q: zeros(q)?, k: zeros(k)?, v: zeros(v)? });
        }
        let problem = pass.problem(AttentionGradientsOf::Operands)?;
        let [of_q, of_k_and_v] = q.gpu().compute(&problem, &pass.views(), &[pass.forward.scale(OP)?])?;
        let of_k_and_v = Tensor::from_output(of_k_and_v, [dk.len() + dv.len()])?;
        let part = |of: Layout| of_k_and_v.as_strided(of.shape(), of.strides(), of.offset());
        Ok(AttentionGradients { q: Tensor::from_allocation(of_q, dq), k: part(dk)?, v: part(dv)? })
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
        let pass = BackwardOperands { forward: AttentionOperands { q, k, v, options }, y, lse, grad };
        let bias =
            options.bias.ok_or_else(|| Error::input(format!("{OP}: the options"), "they have no bias"))?;
        let shape = pass.check(OP)?;
        if pass.forward.has_nothing() || bias.is_empty() {
            return q.gpu().zeros(bias.shape());
        }
        let Some((parts, axes)) = shape.parts_of_bias(bias.shape()) else {
            let layout = Layout::contiguous(OP, bias.shape())?;
            let problem = pass.problem(AttentionGradientsOf::Bias(layout))?;
            let [made] = q.gpu().compute(&problem, &pass.views(), &[pass.forward.scale(OP)?])?;
            return Tensor::from_output(made, bias.shape());
        };
        let layout = Layout::contiguous(OP, &parts)?;
        let problem = pass.problem(AttentionGradientsOf::PartOfBias(layout))?;
        let [made] = q.gpu().compute(&problem, &pass.views(), &[pass.forward.scale(OP)?])?;
        let sums = ops::sum(&Tensor::<f32>::from_output(made, parts)?, axes.as_slice())?;
        sums.reshape(bias.shape())?.cast()
    })
}

/// The operands of a backward pass.
struct BackwardOperands<'a, T: Real> {
    forward: AttentionOperands<'a, T>,
    y: &'a Tensor<T>,
    lse: &'a Tensor<f32>,
    grad: &'a Tensor<T>,
}

impl<T: Real> BackwardOperands<'_, T> {
    /// The layouts of the operands for each row.
    fn rows(&self) -> [&Layout; 3] {
        [self.y.layout(), self.lse.layout(), self.grad.layout()]
    }

    /// Checks devices and shapes.
    fn check(&self, op: &'static str) -> Result<AttentionShape> {
        let q = self.forward.q;
        self.forward.gpu(op)?;
        q.same_gpu(op, self.y)?;
        q.same_gpu(op, self.lse)?;
        q.same_gpu(op, self.grad)?;
        let shape = AttentionShape::of(&self.forward.layouts())?;
        shape.fits_backward(self.rows())?;
        self.forward.scale(op)?;
        Ok(shape)
    }

    fn problem(&self, of: AttentionGradientsOf) -> Result<AttentionBackward> {
        let (options, none) = (self.forward.options, AttentionStatistics::None);
        let forward = AttentionProblem::new(self.forward.layouts(), options.range(), none, T::DTYPE)?;
        AttentionBackward::new(forward.pinned(options.kernel), self.rows(), of)
    }

    /// The operands in the order of the plan.
    fn views(&self) -> Vec<View<'_>> {
        let AttentionOperands { q, k, v, .. } = self.forward;
        let operands = [q, k, v, self.y].map(Tensor::view);
        operands.into_iter().chain([self.lse.view(), self.grad.view()]).chain(self.forward.masks()).collect()
    }
}
