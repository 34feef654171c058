//! What a sketched layer is built with, and layers at random.

use super::{Frozen, OP, SignMemory, SkLinear, check_sizes};
use crate::error::call;
use crate::gemm::Pin;
use crate::layout::{Fill, Real};
use crate::ops::Activation;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// How a sketched layer is built.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::sketch::SkLinear;
/// use tilewise::{Activation, Fill};
///
/// let weight = gpu.random::<f32>([200, 100], Fill::Uniform, 1)?; // (out, in), of no structure at all
/// let bias = gpu.random::<f32>([200], Fill::Uniform, 2)?;
/// let builder = SkLinear::builder(2, 8).bias(&bias).activation(Activation::Gelu).seed(3);
/// let [copied, squares, fitted] =
///     [builder.panther(&weight)?, builder.least_squares(&weight)?, builder.fit(&weight)?];
/// assert!(copied.weight_rel_error > 1.0); // worse than zeros: such a layer is to be trained
/// assert!(fitted.weight_rel_error < squares.weight_rel_error && squares.weight_rel_error < 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a layer is built by `random`, `panther`, `least_squares`, `fit` or `fit_to`"]
pub struct SkLinearBuilder<T: Real> {
    pub(super) terms: usize,
    pub(super) rank: usize,
    pub(super) seed: u64,
    bias: Option<Tensor<T>>,
    activation: Activation,
    memory: SignMemory,
    saving: Saving,
}

/// Whether a layer must have fewer numbers than the dense one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saving {
    Required,
    Waived,
}

/// A layer, and how near it is to the weight that it was built from.
#[derive(Clone, Debug)]
pub struct Sketched<T: Real> {
    /// The layer.
    pub layer: SkLinear<T>,
    /// $\|W - W'\|_F / \|W\|_F$ with the weight W' that the layer stands for, of what is stored; 0 of a weight of
    /// zeros.
    pub weight_rel_error: f64,
    /// $\|X (W - W')^T\|_F / \|X W^T\|_F$ of the activations that it was fitted to, if it was.
    pub output_rel_error: Option<f64>,
}

impl<T: Real> SkLinearBuilder<T> {
    pub(super) fn new(terms: usize, rank: usize) -> Self {
        Self {
            terms,
            rank,
            seed: 0,
            bias: None,
            activation: Activation::None,
            memory: SignMemory::Stored,
            saving: Saving::Required,
        }
    }

    /// The seed of all that is drawn: 0 unless said otherwise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The bias (out), which the layer shares and does not copy.
    pub fn bias(mut self, bias: &Tensor<T>) -> Self {
        self.bias = Some(bias.clone());
        self
    }

    /// What is applied to every output: nothing unless said otherwise.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Where signs are, if U is signs: stored unless said otherwise.
    pub fn signs(mut self, memory: SignMemory) -> Self {
        self.memory = memory;
        self
    }

    /// Builds the layer even if it has no fewer numbers than the dense one.
    pub fn without_saving(mut self) -> Self {
        self.saving = Saving::Waived;
        self
    }

    /// A layer to be trained from nothing: signs U and uniform S, such that outputs have the variance that those of
    /// PyTorch's `nn.Linear` have at first, $\|x\|^2 / 3\,in$; and unless one is given, a bias uniform in
    /// $\pm 1 / \sqrt{in}$. (Panther draws both for $1 / \sqrt{out}$.)
    ///
    /// # Shapes
    /// `features` are the inputs and outputs.
    /// # Errors
    /// [`Error::Shape`] if there are no features, terms or rank, if the rank is more than inputs or outputs, or a given
    /// bias has another length; [`Error::Input`] if the layer would save nothing; [`Error::OutOfMemory`] without room.
    pub fn random(&self, gpu: &Gpu, features: [usize; 2]) -> Result<SkLinear<T>> {
        call("SkLinear::random", || {
            self.check(features)?;
            let [inputs, outputs] = features;
            let half = self.terms * self.rank;
            let uniform = |shape: &[usize], bound: f64, seed: u64| {
                gpu.filled(OP, shape, |start, elements: &mut [T]| {
                    for (i, element) in (start..).zip(elements) {
                        let uniform: f32 = Fill::Uniform.value(i, seed);
                        *element = T::from_f64(f64::from(uniform) * bound);
                    }
                })
            };
            // Each half of a term has variance |x|^2 s^2, and the mean of 2T of them that divided by 2T.
            let bound = (2.0 * self.terms as f64 / inputs as f64).sqrt();
            let [of_s1, of_s2, of_bias] = [1, 2, 3].map(|part| self.seed.wrapping_mul(4).wrapping_add(part));
            let s1 = uniform(&[inputs, half], bound, of_s1)?;
            let s2 = uniform(&[half, outputs], bound, of_s2)?;
            let bias = match &self.bias {
                Some(bias) => bias.clone(),
                None => uniform(&[outputs], 1.0 / (inputs as f64).sqrt(), of_bias)?,
            };
            Self { bias: Some(bias), ..self.clone() }.of_signs(s1, s2)
        })
    }

    /// Checks terms and rank for a layer of these features, and that it saves something.
    pub(super) fn check(&self, features: [usize; 2]) -> Result<()> {
        let [inputs, outputs] = features;
        check_sizes(features, self.terms, self.rank)?;
        let own = [2, self.terms, self.rank]
            .into_iter()
            .fold(inputs.saturating_add(outputs), usize::saturating_mul);
        let dense = inputs.saturating_mul(outputs);
        if own < dense || self.saving == Saving::Waived {
            return Ok(());
        }
        let (terms, rank) = (self.terms, self.rank);
        let why = format!(
            "it saves nothing: {terms} terms of rank {rank} have {own} numbers, the dense weight of {outputs} x {inputs} has \
             {dense}; ask for it `without_saving`, or for a lower rank"
        );
        Err(Error::input(OP, why))
    }

    /// The layer of the seed's signs and these factors, (in, TR) and (TR, out).
    pub(super) fn of_signs(&self, s1: Tensor<T>, s2: Tensor<T>) -> Result<SkLinear<T>> {
        let frozen = Frozen::Signs { seed: self.seed, memory: SignMemory::Made };
        self.layer(frozen, s1, s2)?.with_signs(self.memory)
    }

    /// The layer of these frozen factors and what it is made of.
    pub(super) fn layer(&self, frozen: Frozen, first: Tensor<T>, second: Tensor<T>) -> Result<SkLinear<T>> {
        let Self { terms, rank, activation, .. } = *self;
        SkLinear { terms, rank, frozen, first, second, bias: None, activation, pin: Pin::Free }
            .with_bias(self.bias.as_ref())
    }
}
