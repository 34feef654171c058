//! The operands of layers: multivectors with all blades, as (blade, row, feature).

use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::problem::BladeAxis;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Vectors of the largest algebra that layers take: 32 blades, whose product has 1,024 terms.
pub const LAYER_DIMENSION_AT_MOST: usize = 5;

/// Checks that layers take an algebra.
pub(super) fn check_signature(op: &'static str, signature: Signature) -> Result<()> {
    let n = signature.dimension();
    if n <= LAYER_DIMENSION_AT_MOST {
        return Ok(());
    }
    Err(Error::input(
        op,
        format!("a layer takes {LAYER_DIMENSION_AT_MOST} vectors at most, {signature} has {n}"),
    ))
}

/// The coefficients as a tensor (blade, row, feature): the last axis beside the blades' is of features, those in front of it
/// are rows. A view, unless the rows of a strided tensor are no single axis; then a copy.
pub(super) fn as_rows<T: Real>(
    op: &'static str,
    signature: Signature,
    x: &Multivectors<T>,
) -> Result<Tensor<T>> {
    check_signature(op, signature)?;
    if x.signature() != signature {
        let why = format!("the layer is of {signature}, an operand of {}", x.signature());
        return Err(Error::input(op, why));
    }
    if x.blades().len() != signature.size() {
        let why =
            format!("a layer takes all {} blades, not {} alone: `select` them", signature.size(), x.blades());
        return Err(Error::input(op, why));
    }
    let tensor = x.tensor();
    let [rows @ .., features] = &x.positions()[..] else {
        return Err(Error::shape(op, "there must be an axis of features beside the blades'", tensor.shape()));
    };
    if tensor.is_empty() {
        return Err(Error::shape(op, "there must be a row and a feature at least", tensor.shape()));
    }
    let rank = tensor.shape().len();
    let blade = x.axis().of(rank);
    let axes: Vec<usize> = std::iter::once(blade).chain((0..rank).filter(|&axis| axis != blade)).collect();
    let first = tensor.permute(&axes)?;
    let shape = [x.blades().len(), rows.iter().product(), *features];
    if first.shape() == shape {
        return Ok(first); // whatever its strides
    }
    first.reshape(shape).or_else(|_| first.contiguous()?.reshape(shape))
}

/// Checks that two operands can be multiplied: the same blades in the same order, and the same positions.
pub(super) fn check_alike<T: Real>(op: &'static str, x: &Multivectors<T>, y: &Multivectors<T>) -> Result<()> {
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

/// Rows of a layer's result as multivectors of the operand's rows: `tensor` is (blade, row, feature) and contiguous.
pub(super) fn like<T: Real>(x: &Multivectors<T>, tensor: &Tensor<T>) -> Result<Multivectors<T>> {
    let mut shape = x.positions();
    if let (Some(last), Some(&features)) = (shape.last_mut(), tensor.shape().last()) {
        *last = features;
    }
    shape.insert(0, x.blades().len());
    Multivectors::new(tensor.reshape(shape)?, x.blades(), BladeAxis::First)
}
