//! Sketched linear layers: a dense layer's weight as the mean of terms of low rank, one factor of each frozen.

mod backward;
mod build;
#[cfg(feature = "safetensors")]
mod file;
#[cfg(not(target_arch = "wasm32"))]
mod fit;
mod forward;
mod products;

pub use backward::ParameterGradients;
pub use build::{SkLinearBuilder, Sketched};

use crate::error::{Named, call};
use crate::gemm::{Gemm, Pin};
use crate::layout::Real;
use crate::ops::{self, Activation};
use crate::sketch::{Scaling, Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Precision, Result};

const OP: &str = "SkLinear";

/// A sketched linear layer of T terms and rank R (Panther's `SKLinear`):
/// $y = g\left(\frac{1}{2T} \sum_{t} [(x S_{1t}) U_{1t} + (x U_{2t}) S_{2t}] + b\right)$.
///
/// S and b are trained, U is frozen: given numbers, or signs of a seed over $\sqrt R$, which are stored
/// or made where they are used. The terms lie side by side, so that a layer is two products, of (batch, in)(in, 2TR) and
/// of (batch, 2TR)(2TR, out).
///
/// A layer has 2TR(in + out) numbers where a dense one has in out, and saves time in the same measure. What it loses is
/// what the weight has beyond rank 2TR: [`fit`](Self::fit) keeps the most that there can be.
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
/// println!("{} numbers for {}", fitted.layer.params(), fitted.layer.dense_params());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SkLinear<T: Real> {
    terms: usize,
    rank: usize,
    frozen: Frozen,
    /// (in, 2TR): S1 of all terms, then U2 of all; of signs that are made, (in, TR): S1.
    first: Tensor<T>,
    /// (2TR, out): U1 of all terms, then S2 of all; of signs that are made, (TR, out): S2.
    second: Tensor<T>,
    bias: Option<Tensor<T>>,
    activation: Activation,
    /// What the plans of its products are restricted to.
    pin: Pin,
}

/// What the frozen factors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frozen {
    /// Numbers of any kind, stored.
    Given,
    /// Signs of this seed, over the root of the rank.
    Signs { seed: u64, memory: SignMemory },
}

/// Where the signs of a layer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignMemory {
    /// In memory, beside S.
    Stored,
    /// Nowhere: they are made in the kernels that multiply by them, which takes half the memory.
    Made,
}

impl<T: Real> SkLinear<T> {
    /// What builds layers of so many terms of this rank, with options.
    pub fn builder(terms: usize, rank: usize) -> SkLinearBuilder<T> {
        SkLinearBuilder::new(terms, rank)
    }

    /// A layer of given factors, as Panther stores them.
    ///
    /// # Shapes
    /// `s1` (T, in, R), `u1` (T, R, out), `s2` (T, R, out), `u2` (T, in, R), `bias` (out).
    /// # Errors
    /// [`Error::Shape`] if the shapes do not go together or have no element; [`Error::Gpu`] if the factors live on
    /// different devices; [`Error::OutOfMemory`] without room.
    pub fn from_factors(
        [s1, u1, s2, u2]: [&Tensor<T>; 4],
        bias: Option<&Tensor<T>>,
        activation: Activation,
    ) -> Result<Self> {
        call("SkLinear::from_factors", || {
            let &[terms, inputs, rank] = s1.shape() else {
                return Err(Error::shape(OP, "S1 must be of axes T, in and R", s1.shape()));
            };
            let outputs = s2.shape().last().copied().unwrap_or(0);
            let gpu = s1.gpu();
            for (factor, shape) in [
                (u1, [terms, rank, outputs]),
                (s2, [terms, rank, outputs]),
                (u2, [terms, inputs, rank]),
                (s1, [terms, inputs, rank]),
            ] {
                s1.same_gpu(OP, factor)?;
                if factor.shape() != shape {
                    let rule = "factors must be (T, in, R), (T, R, out), (T, R, out) and (T, in, R)";
                    return Err(Error::shapes(OP, rule, factor.shape(), &shape));
                }
            }
            check_sizes([inputs, outputs], terms, rank)?;
            let side_by_side = |factor: &Tensor<T>| {
                factor.permute(&[1, 0, 2])?.contiguous()?.reshape([inputs, terms * rank])
            };
            let one_below_another =
                |factor: &Tensor<T>| factor.contiguous()?.reshape([terms * rank, outputs]);
            let first = joined(gpu, 1, [&side_by_side(s1)?, &side_by_side(u2)?])?;
            let second = joined(gpu, 0, [&one_below_another(u1)?, &one_below_another(s2)?])?;
            let layer = Self {
                terms,
                rank,
                frozen: Frozen::Given,
                first,
                second,
                bias: None,
                activation,
                pin: Pin::Free,
            };
            layer.with_bias(bias)
        })
    }

    /// The same layer with a bias, which it shares and does not copy.
    fn with_bias(mut self, bias: Option<&Tensor<T>>) -> Result<Self> {
        if let Some(bias) = bias {
            self.first.same_gpu(OP, bias)?;
            if bias.shape() != [self.outputs()] {
                let rule = "the bias must be a vector with an element for each output";
                return Err(Error::shapes(OP, rule, bias.shape(), &[self.outputs()]));
            }
        }
        self.bias = bias.cloned();
        Ok(self)
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

    /// Terms T.
    #[must_use]
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// The rank R of each factor.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The bias (out), if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.bias.as_ref()
    }

    /// What is applied to every output.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The seed of the signs that U is; none where U is given numbers.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        match self.frozen {
            Frozen::Signs { seed, .. } => Some(seed),
            Frozen::Given => None,
        }
    }

    /// Numbers of all factors, U's as well: 2TR(in + out), as many as of a weight in [`dense_params`](Self::dense_params).
    #[must_use]
    pub fn params(&self) -> usize {
        2 * self.half() * (self.inputs() + self.outputs())
    }

    /// Numbers of the dense layer's weight.
    #[must_use]
    pub fn dense_params(&self) -> usize {
        self.inputs() * self.outputs()
    }

    /// S1 of all terms, (in, TR): columns tR to (t + 1)R are term t's. A view.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn s1(&self) -> Result<Tensor<T>> {
        self.first.slice(1, ..self.half()).named("SkLinear::s1")
    }

    /// S2 of all terms, (TR, out): rows tR to (t + 1)R are term t's. A view.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn s2(&self) -> Result<Tensor<T>> {
        call("SkLinear::s2", || {
            let rows = self.second.shape()[0];
            self.second.slice(0, rows - self.half()..)
        })
    }

    /// U1 of all terms, (TR, out), as the formula has it: signs over the root of the rank.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] without room for it.
    pub fn u1(&self) -> Result<Tensor<T>> {
        call("SkLinear::u1", || match self.frozen {
            Frozen::Given => self.second.slice(0, ..self.half()),
            Frozen::Signs { seed, .. } => self.scaled_signs(&signs_of_u1(seed, self.half(), self.outputs())?),
        })
    }

    /// U2 of all terms, (in, TR), as the formula has it: signs over the root of the rank.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] without room for it.
    pub fn u2(&self) -> Result<Tensor<T>> {
        call("SkLinear::u2", || match self.frozen {
            Frozen::Given => self.first.slice(1, self.half()..),
            Frozen::Signs { seed, .. } => {
                Ok(self.scaled_signs(&signs_of_u2(seed, self.half(), self.inputs())?)?.t())
            }
        })
    }

    fn scaled_signs(&self, signs: &Sketch) -> Result<Tensor<T>> {
        let scale = self.gpu().tensor(&[T::from_f64(1.0 / (self.rank as f64).sqrt())], [])?;
        ops::mul(&signs.to_tensor(self.gpu())?.cast::<T>()?, &scale)
    }

    /// The weight that the layer stands for, (out, in), in f32: what a dense layer would have.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Limit`] without room.
    pub fn to_weight(&self) -> Result<Tensor<f32>> {
        call("SkLinear::to_weight", || {
            let stored = self.with_signs(SignMemory::Stored)?;
            let [first, second] = [stored.first.t(), stored.second.t()];
            Gemm::new(&second, &first).alpha(self.scale()).precision(Precision::Strict).run()
        })
    }

    /// The layer with its factors in another type, and its bias.
    ///
    /// For mixed precision keep a layer of f32 to be updated, and cast it for each step.
    /// # Precision
    /// As [`Tensor::cast`]; signs are exact in every type.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Limit`] without room.
    pub fn cast<P: Real>(&self) -> Result<SkLinear<P>> {
        call("SkLinear::cast", || {
            let Self { terms, rank, frozen, activation, pin, .. } = *self;
            let (first, second) = (self.first.cast()?, self.second.cast()?);
            let bias = self.bias.as_ref().map(Tensor::cast).transpose()?;
            Ok(SkLinear { terms, rank, frozen, first, second, bias, activation, pin })
        })
    }

    /// The same layer, the signs of whose seed are stored or made: outputs and gradients have the same bits.
    ///
    /// That is so because layers of signs take the kernels that stage operands, in either case. A fitted layer, whose U
    /// is data, takes any: a batch of few rows is faster by far in the one for thin products.
    /// # Errors
    /// [`Error::Input`] if U is not signs of a seed and is to be made; [`Error::OutOfMemory`] without room to store it.
    pub fn with_signs(&self, memory: SignMemory) -> Result<Self> {
        call("SkLinear::with_signs", || {
            let Frozen::Signs { seed, memory: now } = self.frozen else {
                return match memory {
                    SignMemory::Stored => Ok(self.clone()),
                    SignMemory::Made => {
                        Err(Error::input("SkLinear: U", "it is given numbers, which no seed makes"))
                    }
                };
            };
            if now == memory {
                return Ok(self.clone());
            }
            let (s1, s2) = (self.s1()?, self.s2()?);
            let frozen = Frozen::Signs { seed, memory };
            if memory == SignMemory::Made {
                let [first, second] = [copied(&s1)?, copied(&s2)?];
                return Ok(Self { frozen, first, second, ..self.clone() });
            }
            let gpu = self.gpu();
            let u1 = signs_of_u1(seed, self.half(), self.outputs())?.to_tensor(gpu)?.cast::<T>()?;
            let u2 = signs_of_u2(seed, self.half(), self.inputs())?.to_tensor(gpu)?.cast::<T>()?;
            let first = joined(gpu, 1, [&s1, &u2.t()])?;
            let second = joined(gpu, 0, [&u1, &s2])?;
            Ok(Self { frozen, first, second, ..self.clone() })
        })
    }

    /// The same layer, its products by the kernels that are pinned: for this crate's own tests.
    #[doc(hidden)]
    #[must_use]
    pub fn pinned(self, pin: Pin) -> Self {
        Self { pin, ..self }
    }

    fn gpu(&self) -> &Gpu {
        self.first.gpu()
    }

    /// TR.
    fn half(&self) -> usize {
        self.terms * self.rank
    }

    /// What the first product is multiplied by: all that the formula has, so that signs are stored as 1 and -1.
    #[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
    fn scale(&self) -> f32 {
        let mean = 0.5 / self.terms as f64;
        match self.frozen {
            Frozen::Given => mean as f32,
            Frozen::Signs { .. } => (mean / (self.rank as f64).sqrt()) as f32,
        }
    }
}

/// The signs of U1: (TR, out).
fn signs_of_u1(seed: u64, half: usize, outputs: usize) -> Result<Sketch> {
    Ok(Sketch::new(SketchKind::Sign, [half, outputs], seed)?.scaled(Scaling::Unscaled))
}

/// The signs of U2, transposed: (TR, in). NOTE: of the other seed, so that U1 and U2 have nothing in common.
fn signs_of_u2(seed: u64, half: usize, inputs: usize) -> Result<Sketch> {
    Ok(Sketch::new(SketchKind::Sign, [half, inputs], !seed)?.scaled(Scaling::Unscaled))
}

/// Checks that there are features, terms and a rank that a weight of this shape has, and that 2TR can be counted.
fn check_sizes(features: [usize; 2], terms: usize, rank: usize) -> Result<()> {
    if features.contains(&0) {
        return Err(Error::shape(OP, "a layer must have inputs and outputs", &features));
    }
    if terms == 0 || rank == 0 {
        return Err(Error::shapes(OP, "a layer must have a term and a rank", &[terms, rank], &features));
    }
    if rank > features[0].min(features[1]) {
        let rule = "the rank must be no more than inputs and outputs";
        return Err(Error::shapes(OP, rule, &[terms, rank], &features));
    }
    if terms.checked_mul(rank).and_then(|half| half.checked_mul(2)).is_none() {
        let rule = "2 * terms * rank must not overflow";
        return Err(Error::shapes(OP, rule, &[terms, rank], &features));
    }
    Ok(())
}

/// Two matrices in one, side by side (axis 1) or one below the other (axis 0).
fn joined<T: Real>(gpu: &Gpu, axis: usize, parts: [&Tensor<T>; 2]) -> Result<Tensor<T>> {
    let mut shape = [parts[0].shape()[0], parts[0].shape()[1]];
    let split = shape[axis];
    shape[axis] += parts[1].shape()[axis];
    let mut whole = gpu.empty(shape)?;
    for (part, range) in parts.into_iter().zip([0..split, split..shape[axis]]) {
        let place = whole.layout().slice(axis, range)?;
        whole.narrowed(place, |place| ops::activate_into(part, Activation::None, place))?;
    }
    Ok(whole)
}

/// The elements in a buffer of their own.
fn copied<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>> {
    ops::activate(x, Activation::None)
}
