//! The options of a sketched layer, and random layers.

use super::frozen::{Frozen, SignStorage};
use super::sk_linear::{OP, SkLinear, check_sizes};
use crate::error::call;
use crate::layout::Real;
use crate::ops::Activation;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// Builds sketched layers, with options.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::sketch::SkLinear;
/// use tilewise::{Activation, Fill};
///
/// let weight = gpu.random::<f32>([200, 100], Fill::Uniform, 1)?; // (out, in), without structure
/// let bias = gpu.random::<f32>([200], Fill::Uniform, 2)?;
/// let builder = SkLinear::builder(2, 8).bias(&bias).activation(Activation::Gelu).seed(3);
/// let [copied, squares, fitted] =
///     [builder.panther(&weight)?, builder.least_squares(&weight)?, builder.fit(&weight)?];
/// assert!(copied.weight_rel_error > 1.0); // worse than zeros: such a layer must be trained
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
    storage: SignStorage,
    saving: Saving,
}

/// Whether a layer must have fewer parameters than the dense one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saving {
    Required,
    Waived,
}

/// A layer that was built from a weight, and its errors.
#[derive(Clone, Debug)]
pub struct FittedLayer<T: Real> {
    /// The layer.
    pub layer: SkLinear<T>,
    /// $\\|W - W'\\|\_F / \\|W\\|\_F$, where W' is the weight that the stored layer represents; 0 for a weight of zeros.
    pub weight_rel_error: f64,
    /// $\\|X (W - W')^T\\|\_F / \\|X W^T\\|\_F$ for the activations X to which the layer was fitted, if it was.
    pub output_rel_error: Option<f64>,
}

impl<T: Real> SkLinear<T> {
    /// A builder for layers with this number of terms and this rank.
    pub fn builder(terms: usize, rank: usize) -> SkLinearBuilder<T> {
        SkLinearBuilder::new(terms, rank)
    }
}

impl<T: Real> SkLinearBuilder<T> {
    pub(super) fn new(terms: usize, rank: usize) -> Self {
        Self {
            terms,
            rank,
            seed: 0,
            bias: None,
            activation: Activation::None,
            storage: SignStorage::Stored,
            saving: Saving::Required,
        }
    }

    /// The seed of all random entries, 0 by default.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The bias (out). The layer shares it and does not copy it.
    pub fn bias(self, bias: &Tensor<T>) -> Self {
        Self { bias: Some(bias.clone()), ..self }
    }

    /// The function that is applied to each output, none by default.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// The storage of the signs, if U is signs. They are stored by default.
    pub fn signs(self, storage: SignStorage) -> Self {
        Self { storage, ..self }
    }

    /// Builds the layer even if it does not have fewer parameters than the dense one.
    pub fn allow_larger(self) -> Self {
        Self { saving: Saving::Waived, ..self }
    }

    /// A random layer to be trained: U is signs, S is uniform. The variance of the outputs is that of a new `nn.Linear`
    /// in PyTorch, $\\|x\\|^2 / 3\\,in$. Unless a bias is set, it is uniform in $\pm 1 / \sqrt{in}$. (Panther scales both
    /// by $1 / \sqrt{out}$.)
    ///
    /// # Shapes
    /// `features` are the inputs and the outputs.
    /// # Errors
    /// [`Error::Shape`] if inputs, outputs, terms or rank are 0, if the rank is more than inputs or outputs, or if the
    /// bias has another length; [`Error::Input`] if the layer would not have fewer parameters than the dense one;
    /// [`Error::OutOfMemory`] if the layer does not fit.
    pub fn random(&self, gpu: &Gpu, features: [usize; 2]) -> Result<SkLinear<T>> {
        call("SkLinear::random", || {
            self.check(features)?;
            let [inputs, outputs] = features;
            let inner = self.terms * self.rank;
            // Each product of a term has variance |x|^2 s^2. The mean of 2T products has a variance of 1/2T of that.
            let bound = (2.0 * self.terms as f64 / inputs as f64).sqrt();
            let [of_s1, of_s2, of_bias] = [1, 2, 3].map(|part| self.seed.wrapping_mul(4).wrapping_add(part));
            let s1 = gpu.uniform(OP, &[inputs, inner], bound, of_s1)?;
            let s2 = gpu.uniform(OP, &[inner, outputs], bound, of_s2)?;
            let bias = match &self.bias {
                Some(bias) => bias.clone(),
                None => gpu.uniform(OP, &[outputs], 1.0 / (inputs as f64).sqrt(), of_bias)?,
            };
            Self { bias: Some(bias), ..self.clone() }.of_signs(s1, s2)
        })
    }

    /// Checks terms and rank for a layer of these features, and that it has fewer parameters than the dense one.
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
            "saves nothing: a layer with terms = {terms} and rank = {rank} has {own} parameters, the dense weight of \
             {outputs} x {inputs} has {dense}. Lower the rank, or set `allow_larger` on the builder"
        );
        Err(Error::input(OP, why))
    }

    /// The layer with signs of the seed and these trained factors, (in, TR) and (TR, out).
    pub(super) fn of_signs(&self, s1: Tensor<T>, s2: Tensor<T>) -> Result<SkLinear<T>> {
        let frozen = Frozen::Signs { seed: self.seed, storage: SignStorage::Generated };
        self.layer(frozen, s1, s2)?.to_sign_storage(self.storage)
    }

    /// The layer with these frozen factors, in the shapes that [`SkLinear`] stores.
    pub(super) fn layer(&self, frozen: Frozen, first: Tensor<T>, second: Tensor<T>) -> Result<SkLinear<T>> {
        SkLinear::assembled([self.terms, self.rank], frozen, [first, second], self.activation)
            .biased(self.bias.as_ref())
    }
}
