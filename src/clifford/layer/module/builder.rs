//! Building layers of Clifford networks, with random parameters or from given ones.

use super::clifford_layer::{CliffordLayer, OP, Residual};
use crate::clifford::layer::layer_product::{LayerProduct, ProductKind};
use crate::clifford::layer::linear::{BiasOn, MvLinear};
use crate::clifford::layer::row_tensors::check_signature;
use crate::error::call;
use crate::layout::{Layout, Real};
use crate::sketch::{Scaling, Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// Builds a [`CliffordLayer`] with options.
#[derive(Clone, Copy, Debug)]
#[must_use = "a layer is built by `random`, `from_parts` or `load`"]
pub struct CliffordLayerBuilder {
    pub(super) product: LayerProduct,
    pub(super) kind: ProductKind,
    pub(super) bias_on: BiasOn,
    residual: Residual,
    seed: u64,
}

impl<T: Real> CliffordLayer<T> {
    /// A builder of layers with a product of this kind.
    pub fn builder(product: LayerProduct, kind: ProductKind) -> CliffordLayerBuilder {
        let (bias_on, residual) = (BiasOn::default(), Residual::default());
        CliffordLayerBuilder { product, kind, bias_on, residual, seed: 0 }
    }
}

impl CliffordLayerBuilder {
    /// Sets the blades with a bias. The default is the scalar.
    pub fn bias_on(self, bias_on: BiasOn) -> Self {
        Self { bias_on, ..self }
    }

    /// Sets the residual connection. The default is none.
    pub fn residual(self, residual: Residual) -> Self {
        Self { residual, ..self }
    }

    /// Sets the seed of random parameters. The default is 0.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// A layer with random parameters, to train from scratch. All weights are normally distributed. The standard
    /// deviation is $1 / \sqrt{in}$ in the linear layer, $1 / \sqrt{n + 1}$ in a steerable product and
    /// $1 / \sqrt{in\\,(n + 1)}$ in a connected product. The bias is zero. The same seed gives the same weights on every
    /// device.
    ///
    /// # Shapes
    /// `features` are [in, out]. They may differ only for a connected product without a residual.
    /// # Errors
    /// [`Error::Shape`] if a number of features is 0, or the two must be equal and are not; [`Error::Input`] if the
    /// algebra has more vectors than [`MAX_LAYER_DIMENSION`](super::super::MAX_LAYER_DIMENSION); [`Error::OutOfMemory`]
    /// if there is no memory for the parameters.
    pub fn random<T: Real>(self, gpu: &Gpu, features: [usize; 2]) -> Result<CliffordLayer<T>> {
        call("CliffordLayer::random", || {
            let [inputs, outputs] = features;
            let signature = self.product.signature;
            check_signature(OP, signature)?;
            if features.contains(&0) {
                return Err(Error::shape(OP, "a layer must have features in and out", &features));
            }
            let (grades, paths) = (signature.dimension() + 1, signature.path_count());
            let [linear_seed, product_seed] = [1, 2].map(|part| self.seed.wrapping_mul(4).wrapping_add(part));
            let deviation = 1.0 / (inputs as f64).sqrt();
            let weight = normal(gpu, &[grades, inputs, inputs], deviation, linear_seed)?;
            let linear =
                MvLinear::builder(signature, weight).bias(gpu.zeros([inputs])?, self.bias_on).build()?;
            let grade_deviation = 1.0 / (grades as f64).sqrt();
            let weight = match self.kind {
                ProductKind::Steerable => normal(gpu, &[outputs, paths], grade_deviation, product_seed)?,
                ProductKind::Connected => {
                    normal(gpu, &[paths, inputs, outputs], deviation * grade_deviation, product_seed)?
                }
            };
            self.from_parts(linear, weight)
        })
    }

    /// A layer from a linear layer and the product's weights. It shares their tensors and copies nothing. The linear
    /// layer determines the blades with a bias.
    ///
    /// # Shapes
    /// `linear` maps in features to in features. `weight` is (features, paths) for a steerable product and (paths, in,
    /// out) for a connected one, with the paths of [`Signature::paths`](crate::clifford::Signature::paths).
    /// # Errors
    /// [`Error::Shape`] if the shapes do not match; [`Error::Input`] if the linear layer has another algebra than the
    /// product or no bias; [`Error::Gpu`] if the tensors are on different devices.
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
                    "the linear layer must have a bias. If it should add nothing, give it a bias of zeros",
                ));
            }
            linear.weight().same_gpu(OP, &weight)?;
            let (inputs, paths) = (linear.inputs(), signature.path_count());
            if linear.outputs() != inputs {
                let rule = "the linear layer must have the same number of features in and out";
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
            let Self { product, kind, residual, .. } = self;
            let layer = CliffordLayer { product, kind, residual, linear, weight };
            if self.residual == Residual::Operand && layer.outputs() != inputs {
                let rule = "a layer with a residual must have the same number of features in and out";
                return Err(Error::shapes(OP, rule, &[layer.outputs()], &[inputs]));
            }
            Ok(layer)
        })
    }
}

/// A tensor of independent normally distributed numbers.
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
