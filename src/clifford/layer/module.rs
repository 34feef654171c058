//! A whole layer: a linear map of the features, and the weighted product of the features with what comes of it.

use super::descend::step;
use super::form::LayerProduct;
use super::gradients::ProductGradients;
use super::linear::{BiasOn, MvLinear};
use super::linear_backward::MvLinearGradients;
use super::operands::{as_rows, check_signature, like};
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::call;
use crate::layout::{Layout, Real};
use crate::ops;
use crate::sketch::{Scaling, Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

pub(super) const OP: &str = "CliffordLayer";

/// How features are combined in a layer's product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductKind {
    /// Feature by feature: a weight for each path and feature.
    Steerable,
    /// All with all: a matrix (in, out) for each path.
    Connected,
}

/// What a layer adds to its product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Residual {
    /// Nothing.
    #[default]
    None,
    /// The operand itself.
    Operand,
}

/// A layer of a Clifford network (flash-clifford's `Layer`): $y = \mathrm{linear}(x)$, then the weighted product of x and y,
/// gated and normalised as its [`LayerProduct`] says, and x added if there is a [`Residual`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::clifford::layer::{CliffordLayer, LayerProduct, ProductKind};
/// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
/// use tilewise::Fill;
///
/// let algebra = Signature::CL3;
/// let builder = CliffordLayer::<f32>::builder(LayerProduct::new(algebra), ProductKind::Steerable);
/// let mut layer = builder.seed(1).random::<f32>(&gpu, [6, 6])?;
/// let x = gpu.random([8, 5, 6], Fill::Uniform, 2)?; // (blade, row, feature)
/// let x = Multivectors::new(x, &algebra.blades(), BladeAxis::First)?;
/// let out = layer.forward(&x)?;
/// let (_, gradients) = layer.backward(&x, &out)?; // of half the sum of squares
/// layer.descend(&gradients, 0.01)?;
/// # assert_eq!(out.tensor().shape(), [8, 5, 6]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CliffordLayer<T: Real> {
    builder: CliffordLayerBuilder,
    linear: MvLinear<T>,
    weight: Tensor<T>,
}

/// How a layer is built.
#[derive(Clone, Copy, Debug)]
#[must_use = "a layer is built by `random`, `from_parts` or `load`"]
pub struct CliffordLayerBuilder {
    pub(super) product: LayerProduct,
    pub(super) kind: ProductKind,
    pub(super) bias_on: BiasOn,
    residual: Residual,
    seed: u64,
}

/// The gradients of a layer's parameters, in f32 whatever the layer's type is.
#[derive(Clone, Debug)]
pub struct LayerGradients {
    /// Of the linear map's matrices and bias.
    pub linear: MvLinearGradients,
    /// Of the product's weights, in their shape.
    pub product: Tensor<f32>,
}

impl CliffordLayerBuilder {
    /// Which blades the bias is added to: the scalar unless said otherwise.
    pub fn bias_on(self, bias_on: BiasOn) -> Self {
        Self { bias_on, ..self }
    }

    /// What is added to the product: nothing unless said otherwise.
    pub fn residual(self, residual: Residual) -> Self {
        Self { residual, ..self }
    }

    /// The seed of all that is drawn: 0 unless said otherwise.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// A layer to be trained from nothing: all weights normal, those of the linear map of the standard deviation
    /// $1 / \sqrt{in}$, of a steerable product $1 / \sqrt{n + 1}$, of a connected one $1 / \sqrt{in\,(n + 1)}$; the bias zero.
    /// The same seed is the same weights on every device.
    ///
    /// # Shapes
    /// `features` are those in and out, which are equal but for a connected product without a residual.
    /// # Errors
    /// [`Error::Shape`] if there are no features, or those in and out must be equal and are not; [`Error::Input`] of an
    /// algebra of more vectors than [`LAYER_DIMENSION_AT_MOST`](super::LAYER_DIMENSION_AT_MOST); [`Error::OutOfMemory`]
    /// without room.
    pub fn random<T: Real>(self, gpu: &Gpu, features: [usize; 2]) -> Result<CliffordLayer<T>> {
        call("CliffordLayer::random", || {
            let [inputs, outputs] = features;
            let signature = self.product.signature;
            check_signature(OP, signature)?;
            if features.contains(&0) {
                return Err(Error::shape(OP, "a layer must have features in and out", &features));
            }
            let (grades, paths) = (signature.dimension() + 1, signature.paths().len());
            let [of_linear, of_product] = [1, 2].map(|part| self.seed.wrapping_mul(4).wrapping_add(part));
            let deviation = 1.0 / (inputs as f64).sqrt();
            let weight = normal(gpu, &[grades, inputs, inputs], deviation, of_linear)?;
            let linear = MvLinear::new(signature, weight)?.with_bias(gpu.zeros([inputs])?, self.bias_on)?;
            let of_grades = 1.0 / (grades as f64).sqrt();
            let weight = match self.kind {
                ProductKind::Steerable => normal(gpu, &[outputs, paths], of_grades, of_product)?,
                ProductKind::Connected => {
                    normal(gpu, &[paths, inputs, outputs], deviation * of_grades, of_product)?
                }
            };
            self.from_parts(linear, weight)
        })
    }

    /// A layer of these parts, which it shares and does not copy; where the bias is, the linear layer says.
    ///
    /// # Shapes
    /// `linear` of in features to in; `weight` (features, paths) of a steerable product, (paths, in, out) of a connected one,
    /// with the paths of [`Signature::paths`](crate::clifford::Signature::paths).
    /// # Errors
    /// [`Error::Shape`] if shapes do not go together; [`Error::Input`] if the linear layer is of another algebra than the
    /// product or has no bias; [`Error::Gpu`] if the parts live on different devices.
    pub fn from_parts<T: Real>(self, linear: MvLinear<T>, weight: Tensor<T>) -> Result<CliffordLayer<T>> {
        call("CliffordLayer::from_parts", || {
            let signature = self.product.signature;
            if linear.signature() != signature {
                let why =
                    format!("the product is of {signature}, the linear layer of {}", linear.signature());
                return Err(Error::input(OP, why));
            }
            if linear.bias().is_none() {
                return Err(Error::input(
                    OP,
                    "the linear layer must have a bias: zeros, if nothing is to be added",
                ));
            }
            linear.weight().same_gpu(OP, &weight)?;
            let (inputs, paths) = (linear.inputs(), signature.paths().len());
            if linear.outputs() != inputs {
                let rule = "the linear layer must have as many features out as in";
                return Err(Error::shapes(OP, rule, &[linear.outputs()], &[inputs]));
            }
            let (needed, rule) = match (self.kind, weight.shape()) {
                (ProductKind::Connected, &[.., outputs]) if outputs > 0 => (
                    vec![paths, inputs, outputs],
                    "the weight of a connected product must be (paths, in, out)",
                ),
                (ProductKind::Connected, _) => (
                    vec![paths, inputs, inputs],
                    "the weight of a connected product must be (paths, in, out)",
                ),
                (ProductKind::Steerable, _) => {
                    (vec![inputs, paths], "the weight of a steerable product must be (features, paths)")
                }
            };
            if weight.shape() != needed {
                return Err(Error::shapes(OP, rule, weight.shape(), &needed));
            }
            let layer = CliffordLayer { builder: Self { bias_on: linear.bias_on(), ..self }, linear, weight };
            if self.residual == Residual::Operand && layer.outputs() != inputs {
                let rule = "a layer with a residual must have as many features out as in";
                return Err(Error::shapes(OP, rule, &[layer.outputs()], &[inputs]));
            }
            Ok(layer)
        })
    }
}

impl<T: Real> CliffordLayer<T> {
    /// What builds layers around a product of this kind, with options.
    pub fn builder(product: LayerProduct, kind: ProductKind) -> CliffordLayerBuilder {
        let (bias_on, residual) = (BiasOn::default(), Residual::default());
        CliffordLayerBuilder { product, kind, bias_on, residual, seed: 0 }
    }

    /// The outputs.
    ///
    /// # Shapes
    /// `x` (blade, ..., in), or with blades along the last axis, all blades of the algebra -> (blade, ..., out), blades
    /// along the first axis.
    /// # Errors
    /// As [`MvLinear::forward`].
    /// # Precision
    /// As the linear layer and the product: y is rounded to `T` between the two, sums are in f32.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("CliffordLayer::forward", || {
            let y = self.linear.forward(x)?;
            let product = &self.builder.product;
            let out = match self.builder.kind {
                ProductKind::Steerable => product.steerable(x, &y, &self.weight)?,
                ProductKind::Connected => product.connected(x, &y, &self.weight)?,
            };
            match self.builder.residual {
                Residual::None => Ok(out),
                Residual::Operand => self.sum(x, &[&out, x]),
            }
        })
    }

    /// The gradients of a loss with respect to `x` and the parameters, from `g`, its gradient with respect to the outputs.
    /// What lies between the linear layer and the product is computed again: nothing is kept for this.
    ///
    /// # Shapes
    /// `x` as [`forward`](Self::forward), `g` (blade, ..., out) -> the gradient of x (blade, ..., in), and those of the
    /// parameters, summed over all rows.
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::Shape`], [`Error::Input`] if `g` is of other rows or blades.
    /// # Precision
    /// As [`forward`](Self::forward); the gradients of parameters are not rounded to `T`.
    pub fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<(Multivectors<T>, LayerGradients)> {
        call("CliffordLayer::backward", || {
            let y = self.linear.forward(x)?;
            let product = &self.builder.product;
            let of = match self.builder.kind {
                ProductKind::Steerable => product.steerable_backward(x, &y, &self.weight, g)?,
                ProductKind::Connected => product.connected_backward(x, &y, &self.weight, g)?,
            };
            let ProductGradients { x: of_x, y: of_y, weight } = of;
            let (through, linear) = self.linear.backward(x, &of_y)?;
            let dx = match self.builder.residual {
                Residual::None => self.sum(x, &[&of_x, &through])?,
                Residual::Operand => self.sum(x, &[&of_x, &through, g])?,
            };
            Ok((dx, LayerGradients { linear, product: weight }))
        })
    }

    /// One step of gradient descent, $W \leftarrow W - \eta\,\partial W$ of all parameters. Clones of the layer keep what
    /// they had.
    ///
    /// # Errors
    /// As [`MvLinear::descend`].
    /// # Precision
    /// As [`MvLinear::descend`].
    pub fn descend(&mut self, gradients: &LayerGradients, rate: f32) -> Result<()> {
        call("CliffordLayer::descend", || {
            // The linear layer's step comes last: if it fails, nothing has changed.
            let mut weight = self.weight.clone();
            step(OP, vec![(&mut weight, &gradients.product)], rate)?;
            self.linear.descend(&gradients.linear, rate)?;
            self.weight = weight;
            Ok(())
        })
    }

    /// Multivectors of the operand's rows, added up from the first on.
    fn sum(&self, x: &Multivectors<T>, terms: &[&Multivectors<T>]) -> Result<Multivectors<T>> {
        let signature = self.builder.product.signature;
        let mut sum = as_rows(OP, signature, terms[0])?;
        for term in &terms[1..] {
            sum = ops::add(&sum, &as_rows(OP, signature, term)?)?;
        }
        like(x, &sum)
    }

    /// The layer in another type: keep one of f32 to be updated, and cast it for each step.
    ///
    /// # Precision
    /// As [`Tensor::cast`].
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Limit`] without room.
    pub fn cast<P: Real>(&self) -> Result<CliffordLayer<P>> {
        call("CliffordLayer::cast", || {
            Ok(CliffordLayer {
                builder: self.builder,
                linear: self.linear.cast()?,
                weight: self.weight.cast()?,
            })
        })
    }

    /// The parameters by the names that files have for them: the linear layer's matrices and bias, those of the null
    /// vector's maps if it has them, and the product's weights.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, &Tensor<T>)> {
        let linear = [("linear_weight", Some(self.linear.weight())), ("linear_bias", self.linear.bias())];
        let rest = [("null_weight", self.linear.null_weight()), ("gp_weight", Some(&self.weight))];
        linear.into_iter().chain(rest).filter_map(|(name, of)| Some((name, of?))).collect()
    }

    /// The linear layer.
    #[must_use]
    pub fn linear(&self) -> &MvLinear<T> {
        &self.linear
    }

    /// The product's weights, (features, paths) or (paths, in, out).
    #[must_use]
    pub fn weight(&self) -> &Tensor<T> {
        &self.weight
    }

    /// The product.
    #[must_use]
    pub fn product(&self) -> LayerProduct {
        self.builder.product
    }

    /// How features are combined in it.
    #[must_use]
    pub fn kind(&self) -> ProductKind {
        self.builder.kind
    }

    /// What is added to it.
    #[must_use]
    pub fn residual(&self) -> Residual {
        self.builder.residual
    }

    /// Features of x.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.linear.inputs()
    }

    /// Features of the outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        match self.builder.kind {
            ProductKind::Steerable => self.inputs(),
            ProductKind::Connected => self.weight.shape()[2],
        }
    }
}

/// Independent normal numbers of this standard deviation.
fn normal<T: Real>(gpu: &Gpu, shape: &[usize], deviation: f64, seed: u64) -> Result<Tensor<T>> {
    let len = Layout::contiguous(OP, shape)?.len();
    let sketch = Sketch::new(SketchKind::Gaussian, [1, len], seed)?.scaled(Scaling::Unscaled);
    let mut part = Vec::new();
    gpu.filled(OP, shape, |start, elements: &mut [T]| {
        part.resize(elements.len(), 0.0);
        sketch.entries_from(start, &mut part);
        for (element, &normal) in elements.iter_mut().zip(&part) {
            *element = T::from_f64(f64::from(normal) * deviation);
        }
    })
}
