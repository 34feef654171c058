//! The operands of layers as tensors (blade, row, feature), and back.

use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::problem::BladeAxis;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Vectors of the largest algebra that layers support: 32 blades, whose product has 1,024 terms.
pub const MAX_LAYER_DIMENSION: usize = 5;

/// Checks that layers support the algebra.
pub(super) fn check_signature(op: &'static str, signature: Signature) -> Result<()> {
    let n = signature.dimension();
    if n <= MAX_LAYER_DIMENSION {
        return Ok(());
    }
    let why = format!("layers support at most {MAX_LAYER_DIMENSION} vectors, {signature} has {n}");
    Err(Error::input(op, why))
}

/// The coefficients as a tensor (blade, row, feature). Apart from the blades' axis, the last axis is the features, and
/// all others together are the rows. Returns a view, or a copy if the rows of a strided tensor cannot be one axis.
pub(super) fn to_rows<T: Real>(
    op: &'static str,
    signature: Signature,
    x: &Multivectors<T>,
) -> Result<Tensor<T>> {
    check_signature(op, signature)?;
    if x.signature() != signature {
        let why = format!("the layer is of {signature}, the operand of {}", x.signature());
        return Err(Error::input(op, why));
    }
    if x.blades().len() != signature.size() {
        let (all, blades) = (signature.size(), x.blades());
        let why =
            format!("the operand must have all {all} blades, it has only {blades}. Add them with `select`");
        return Err(Error::input(op, why));
    }
    let tensor = x.tensor();
    let [rows @ .., features] = &x.positions()[..] else {
        let rule = "the operand needs an axis of features in addition to the axis of blades";
        return Err(Error::shape(op, rule, tensor.shape()));
    };
    if tensor.is_empty() {
        return Err(Error::shape(op, "the operand needs at least one row and one feature", tensor.shape()));
    }
    let rank = tensor.shape().len();
    let blade = x.axis().of(rank);
    let axes: Vec<usize> = std::iter::once(blade).chain((0..rank).filter(|&axis| axis != blade)).collect();
    let blades_first = tensor.permute(&axes)?;
    let shape = [x.blades().len(), rows.iter().product(), *features];
    if blades_first.shape() == shape {
        return Ok(blades_first); // with any strides
    }
    blades_first.reshape(shape).or_else(|_| blades_first.contiguous()?.reshape(shape))
}

/// Checks that two operands have the same blades in the same order, and the same positions.
pub(super) fn check_same_rows<T: Real>(
    op: &'static str,
    x: &Multivectors<T>,
    y: &Multivectors<T>,
) -> Result<()> {
    if x.blades() != y.blades() {
        let why = format!("the operands have the blades {} and {}", x.blades(), y.blades());
        return Err(Error::input(op, why));
    }
    if x.positions() != y.positions() {
        let rule = "the operands must have the same rows and features";
        return Err(Error::shapes(op, rule, &x.positions(), &y.positions()));
    }
    Ok(())
}

/// A layer's result (blade, row, feature), a contiguous tensor, as multivectors with the rows of `x`.
pub(super) fn from_rows<T: Real>(x: &Multivectors<T>, tensor: &Tensor<T>) -> Result<Multivectors<T>> {
    let mut shape = x.positions();
    if let (Some(last), Some(&features)) = (shape.last_mut(), tensor.shape().last()) {
        *last = features;
    }
    shape.insert(0, x.blades().len());
    Multivectors::new(tensor.reshape(shape)?, x.blades(), BladeAxis::First)
}
