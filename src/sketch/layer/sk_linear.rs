//! A sketched linear layer: its factors, sizes and options.

use super::frozen::Frozen;
use crate::gemm::Pin;
use crate::layout::Real;
use crate::ops::Activation;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use std::sync::OnceLock;

/// The name of the function in errors.
pub(super) const OP: &str = "SkLinear";

/// A sketched linear layer with T terms of rank R (Panther's `SKLinear`):
/// $y = g\left(\frac{1}{2T} \sum_{t} [(x S_{1t}) U_{1t} + (x U_{2t}) S_{2t}] + b\right)$.
///
/// S and b are trained. U is frozen: either explicit tensors, or signs of a seed divided by $\sqrt R$, which are stored
/// or generated in the kernels. The factors of all terms are concatenated, so a layer takes two products: (batch,
/// in)(in, 2TR) and (batch, 2TR)(2TR, out).
///
/// A layer has 2TR(in + out) parameters; the dense layer has $in \cdot out$. Time is saved in the same proportion. The
/// layer cannot represent the part of the weight beyond rank 2TR; [`fit`](Self::fit) gives the best approximation of
/// that rank.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::sketch::SkLinear;
/// use tilewise::{Fill, matmul};
///
/// let [left, right] = [[100, 4], [4, 60]].map(|shape| gpu.random::<f32>(shape, Fill::Uniform, 1));
/// let weight = matmul(&left?, &right?)?; // (out, in), of rank 4
/// let fitted = SkLinear::fit(&weight, 1, 2)?;
/// assert!(fitted.weight_rel_error < 1e-5);
/// let x = gpu.random::<f32>([8, 60], Fill::Uniform, 2)?;
/// let y = fitted.layer.forward(&x)?; // two launches
/// assert_eq!(y.shape(), [8, 100]);
/// println!("{} parameters instead of {}", fitted.layer.params(), fitted.layer.dense_params());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SkLinear<T: Real> {
    pub(super) terms: usize,
    pub(super) rank: usize,
    pub(super) frozen: Frozen,
    /// (in, 2TR): S1 of all terms, then U2 of all terms. With generated signs, (in, TR): S1.
    pub(super) first: Tensor<T>,
    /// (2TR, out): U1 of all terms, then S2 of all terms. With generated signs, (TR, out): S2.
    pub(super) second: Tensor<T>,
    pub(super) bias: Option<Tensor<T>>,
    pub(super) activation: Activation,
    /// The kernels to which its products are restricted.
    pub(super) pin: Pin,
    /// Views of the factors, created on first use. An update drops them first, so that the factors are uniquely owned.
    pub(super) views: OnceLock<Vec<(&'static str, Tensor<T>)>>,
}

impl<T: Real> SkLinear<T> {
    /// A layer without bias. The factors must have the shapes that its fields require.
    pub(super) fn assembled(
        [terms, rank]: [usize; 2],
        frozen: Frozen,
        [first, second]: [Tensor<T>; 2],
        activation: Activation,
    ) -> Self {
        let (bias, pin, views) = (None, Pin::Free, OnceLock::new());
        Self { terms, rank, frozen, first, second, bias, activation, pin, views }
    }

    /// The same layer with a bias. The layer shares it and does not copy it.
    pub(super) fn biased(mut self, bias: Option<&Tensor<T>>) -> Result<Self> {
        if let Some(bias) = bias {
            self.first.same_gpu(OP, bias)?;
            if bias.shape() != [self.outputs()] {
                let rule = "the bias must be a vector with one element per output";
                return Err(Error::shapes(OP, rule, bias.shape(), &[self.outputs()]));
            }
        }
        self.bias = bias.cloned();
        Ok(self)
    }

    /// The same layer with other factors.
    pub(super) fn refactored(&self, frozen: Frozen, [first, second]: [Tensor<T>; 2]) -> Self {
        Self { frozen, first, second, views: OnceLock::new(), ..self.clone() }
    }

    /// Features of x.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.first.shape()[0]
    }

    /// Features of y.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.second.shape()[1]
    }

    /// Number of terms T.
    #[must_use]
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Rank R of each factor.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The bias (out), if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.bias.as_ref()
    }

    /// The function that is applied to each output.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The seed whose signs are U. None if U is explicit.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        match self.frozen {
            Frozen::Signs { seed, .. } => Some(seed),
            Frozen::Explicit => None,
        }
    }

    /// Entries of all factors, including U: 2TR(in + out). [`dense_params`](Self::dense_params) counts those of the
    /// dense weight.
    #[must_use]
    pub fn params(&self) -> usize {
        2 * self.inner() * (self.inputs() + self.outputs())
    }

    /// Entries of the dense layer's weight.
    #[must_use]
    pub fn dense_params(&self) -> usize {
        self.inputs() * self.outputs()
    }

    pub(super) fn gpu(&self) -> &Gpu {
        self.first.gpu()
    }

    /// TR, the inner size of all terms together.
    pub(super) fn inner(&self) -> usize {
        self.terms * self.rank
    }

    /// The alpha of the first product. It holds all constants of the formula, so that signs are stored as 1 and -1.
    #[expect(clippy::cast_possible_truncation, reason = "the factor is rounded once")]
    pub(super) fn scale(&self) -> f32 {
        let mean = 0.5 / self.terms as f64;
        match self.frozen {
            Frozen::Explicit => mean as f32,
            Frozen::Signs { .. } => (mean / (self.rank as f64).sqrt()) as f32,
        }
    }
}

/// The same layer with its products restricted to the pinned kernels, so that tests can run each of them.
#[must_use]
pub fn pinned_layer<T: Real>(layer: SkLinear<T>, pin: Pin) -> SkLinear<T> {
    SkLinear { pin, ..layer }
}

/// Checks that features, terms and rank are positive, that a weight of this shape has the rank, and that 2TR does not
/// overflow.
pub(super) fn check_sizes(features: [usize; 2], terms: usize, rank: usize) -> Result<()> {
    if features.contains(&0) {
        return Err(Error::shape(OP, "a layer must have inputs and outputs", &features));
    }
    if terms == 0 || rank == 0 {
        let rule = "a layer must have at least one term and a rank of at least 1";
        return Err(Error::shapes(OP, rule, &[terms, rank], &features));
    }
    if rank > features[0].min(features[1]) {
        let rule = "the rank must not exceed inputs and outputs";
        return Err(Error::shapes(OP, rule, &[terms, rank], &features));
    }
    if terms.checked_mul(rank).and_then(|inner| inner.checked_mul(2)).is_none() {
        let rule = "2 * terms * rank must not overflow";
        return Err(Error::shapes(OP, rule, &[terms, rank], &features));
    }
    Ok(())
}
