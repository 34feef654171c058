//! A whole layer: a linear map of the features, and the weighted product of the features with its result.

use crate::Result;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::layer_product::{LayerProduct, ProductKind};
use crate::clifford::layer::linear::MvLinear;
use crate::clifford::layer::product::ProductGradients;
use crate::clifford::layer::row_tensors::{from_rows, to_rows};
use crate::error::call;
use crate::layout::Real;
use crate::ops;
use crate::ops::training::{Gradients, ParameterMut, Parameters, check_gradients};
use crate::tensor::Tensor;

pub(super) const OP: &str = "CliffordLayer";

/// The residual connection of a layer: the tensor that is added to its product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Residual {
    /// Nothing.
    #[default]
    None,
    /// The layer's operand x.
    Operand,
}

/// A layer of a Clifford network (flash-clifford's `Layer`). It computes $y = \mathrm{linear}(x)$, then the weighted
/// product of x and y with the gate and norm of its [`LayerProduct`], and adds x if it has a [`Residual`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::clifford::layer::{CliffordLayer, LayerProduct, ProductKind};
/// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
/// use tilewise::{Fill, Parameters};
///
/// let algebra = Signature::CL3;
/// let builder = CliffordLayer::<f32>::builder(LayerProduct::new(algebra), ProductKind::Steerable);
/// let mut layer = builder.seed(1).random::<f32>(&gpu, [6, 6])?;
/// let x = gpu.random([8, 5, 6], Fill::Uniform, 2)?; // (blade, row, feature)
/// let x = Multivectors::new(x, &algebra.blades(), BladeAxis::First)?;
/// let out = layer.forward(&x)?;
/// let (_, gradients) = layer.backward(&x, &out)?; // the loss is half the sum of squares
/// layer.descend(&gradients, 0.01)?;
/// # assert_eq!(out.tensor().shape(), [8, 5, 6]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CliffordLayer<T: Real> {
    pub(super) product: LayerProduct,
    pub(super) kind: ProductKind,
    pub(super) residual: Residual,
    pub(super) linear: MvLinear<T>,
    pub(super) weight: Tensor<T>,
}

impl<T: Real> CliffordLayer<T> {
    /// The outputs.
    ///
    /// # Shapes
    /// `x` (blade, ..., in), or with blades along the last axis, all blades of the algebra -> (blade, ..., out), blades
    /// along the first axis.
    /// # Errors
    /// As [`MvLinear::forward`].
    /// # Precision
    /// As the linear layer and the product, which sum in f32. y is rounded to `T` between the two.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("CliffordLayer::forward", || {
            let y = self.linear.forward(x)?;
            let out = match self.kind {
                ProductKind::Steerable => self.product.steerable(x, &y, &self.weight)?,
                ProductKind::Connected => self.product.connected(x, &y, &self.weight)?,
            };
            match self.residual {
                Residual::None => Ok(out),
                Residual::Operand => self.sum(x, &[&out, x]),
            }
        })
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the parameters,
    /// from its gradient `g` with respect to the outputs. Computes y again: the forward pass stores nothing for the
    /// backward pass.
    ///
    /// # Shapes
    /// `x` as [`forward`](Self::forward), `g` (blade, ..., out) -> the gradient of x (blade, ..., in), and the
    /// gradients of the parameters, summed over all rows.
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::Shape`](crate::Error::Shape) or [`Error::Input`](crate::Error::Input) if
    /// `g` has other rows or blades.
    /// # Precision
    /// As [`forward`](Self::forward); the gradients of the parameters are not rounded to `T`.
    pub fn backward(&self, x: &Multivectors<T>, g: &Multivectors<T>) -> Result<(Multivectors<T>, Gradients)> {
        call("CliffordLayer::backward", || Gradients::of(|to| self.backward_into(x, g, to)))
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`backward`](Self::backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
        gradients: &mut Gradients,
    ) -> Result<Multivectors<T>> {
        call("CliffordLayer::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            let y = self.linear.forward(x)?;
            let products = match self.kind {
                ProductKind::Steerable => self.product.steerable_backward(x, &y, &self.weight, g)?,
                ProductKind::Connected => self.product.connected_backward(x, &y, &self.weight, g)?,
            };
            let ProductGradients { x: product_dx, y: dy, weight } = products;
            let linear_dx = self.linear.add_gradients(x, &dy, gradients)?;
            gradients.add("gp_weight", weight)?;
            match self.residual {
                Residual::None => self.sum(x, &[&product_dx, &linear_dx]),
                Residual::Operand => self.sum(x, &[&product_dx, &linear_dx, g]),
            }
        })
    }

    /// The sum of multivectors with the rows of `x`, added in order.
    fn sum(&self, x: &Multivectors<T>, terms: &[&Multivectors<T>]) -> Result<Multivectors<T>> {
        let signature = self.product.signature;
        let mut sum = to_rows(OP, signature, terms[0])?;
        for term in &terms[1..] {
            sum = ops::add(&sum, &to_rows(OP, signature, term)?)?;
        }
        from_rows(x, &sum)
    }

    /// The layer with parameters of another type. To train in f16 or bf16, update a layer of f32 and cast it for each
    /// iteration.
    ///
    /// # Precision
    /// As [`Tensor::cast`].
    /// # Errors
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<CliffordLayer<P>> {
        call("CliffordLayer::cast", || {
            Ok(CliffordLayer {
                product: self.product,
                kind: self.kind,
                residual: self.residual,
                linear: self.linear.cast()?,
                weight: self.weight.cast()?,
            })
        })
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
        self.product
    }

    /// How the product combines features.
    #[must_use]
    pub fn kind(&self) -> ProductKind {
        self.kind
    }

    /// The residual connection.
    #[must_use]
    pub fn residual(&self) -> Residual {
        self.residual
    }

    /// Number of input features.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.linear.inputs()
    }

    /// Number of output features.
    #[must_use]
    pub fn outputs(&self) -> usize {
        match self.kind {
            ProductKind::Steerable => self.inputs(),
            ProductKind::Connected => self.weight.shape()[2],
        }
    }
}

impl<T: Real> Parameters<T> for CliffordLayer<T> {
    /// The parameters of the linear layer, then the product's weights as `gp_weight`.
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        self.linear.parameters().into_iter().chain([("gp_weight".into(), &self.weight)]).collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let weight = ("gp_weight".into(), ParameterMut::new(&mut self.weight));
        self.linear.parameters_mut().into_iter().chain([weight]).collect()
    }
}
