//! Builds linear layers of multivectors with options.

use super::blade_map::BiasOn;
use super::mv_linear::{MvLinear, OP};
use crate::clifford::algebra::signature::Signature;
use crate::clifford::layer::row_tensors::check_signature;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Builds an [`MvLinear`] with options. [`MvLinear::new`] builds one without.
#[derive(Clone, Debug)]
#[must_use = "a layer is built by `build`"]
pub struct MvLinearBuilder<T: Real> {
    layer: MvLinear<T>,
}

impl<T: Real> MvLinear<T> {
    /// A layer without a bias. It shares the matrices and copies nothing.
    ///
    /// # Shapes
    /// `weight` (grades, in, out), one matrix for each grade from 0 to n.
    /// # Errors
    /// [`Error::Shape`] if the weight has other axes or is empty; [`Error::Input`] if the algebra has more vectors than
    /// [`MAX_LAYER_DIMENSION`](super::super::MAX_LAYER_DIMENSION).
    pub fn new(signature: Signature, weight: Tensor<T>) -> Result<Self> {
        call("MvLinear::new", || Self::builder(signature, weight).checked())
    }

    /// A builder of layers with a bias, or with matrices for the null vector.
    ///
    /// # Shapes
    /// `weight` (grades, in, out), one matrix for each grade from 0 to n.
    pub fn builder(signature: Signature, weight: Tensor<T>) -> MvLinearBuilder<T> {
        let (bias, bias_on, null_weight) = (None, BiasOn::default(), None);
        MvLinearBuilder { layer: Self { signature, weight, bias, bias_on, null_weight } }
    }
}

impl<T: Real> MvLinearBuilder<T> {
    /// Adds a bias (out), which the layer shares and does not copy.
    pub fn bias(mut self, bias: Tensor<T>, bias_on: BiasOn) -> Self {
        (self.layer.bias, self.layer.bias_on) = (Some(bias), bias_on);
        self
    }

    /// Adds matrices for the product of the null vector with each grade. The layer shares them and copies nothing.
    ///
    /// # Shapes
    /// `null_weight` (n, in, out), one matrix for each grade from 0 to n - 1.
    pub fn null_weight(self, null_weight: Tensor<T>) -> Self {
        Self { layer: MvLinear { null_weight: Some(null_weight), ..self.layer } }
    }

    /// The layer.
    ///
    /// # Errors
    /// As [`MvLinear::new`]; [`Error::Shape`] if the bias or the null weight has another shape; [`Error::Input`] if
    /// there is a null weight and the algebra does not have exactly one null vector; [`Error::Gpu`] if the tensors are
    /// on different devices.
    pub fn build(self) -> Result<MvLinear<T>> {
        call("MvLinear::build", || self.checked())
    }

    fn checked(self) -> Result<MvLinear<T>> {
        let layer = self.layer;
        check_signature(OP, layer.signature)?;
        let grades = layer.signature.dimension() + 1;
        match layer.weight.shape() {
            &[first, inputs, outputs] if first == grades && inputs * outputs > 0 => {}
            shape => {
                let rule = "the weight must be (grades, in, out), with a matrix for each grade";
                return Err(Error::shapes(OP, rule, shape, &[grades]));
            }
        }
        if let Some(bias) = &layer.bias {
            layer.weight.same_gpu(OP, bias)?;
            if bias.shape() != [layer.outputs()] {
                let rule = "the bias must be a vector with an element for each output";
                return Err(Error::shapes(OP, rule, bias.shape(), &[layer.outputs()]));
            }
        }
        if let Some(null_weight) = &layer.null_weight {
            check_null_weight(&layer, null_weight)?;
        }
        Ok(layer)
    }
}

fn check_null_weight<T: Real>(layer: &MvLinear<T>, null_weight: &Tensor<T>) -> Result<()> {
    let [.., null] = layer.signature.pqr();
    if null != 1 {
        let why = format!(
            "a null weight needs an algebra with exactly one null vector; {} has {null}",
            layer.signature
        );
        return Err(Error::input(OP, why));
    }
    layer.weight.same_gpu(OP, null_weight)?;
    let needed = [layer.signature.dimension(), layer.inputs(), layer.outputs()];
    if null_weight.shape() != needed {
        let rule = "the null weight must be (n, in, out), for an algebra of n vectors";
        return Err(Error::shapes(OP, rule, null_weight.shape(), &needed));
    }
    Ok(())
}
