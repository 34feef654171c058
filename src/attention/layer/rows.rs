//! Linear maps of the rows of a batch of sequences.

use crate::gemm::Linear;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Checks that an operand is (batch, length, embed).
pub(super) fn check_sequences<T: Real>(
    op: &'static str,
    name: &str,
    x: &Tensor<T>,
    embed: usize,
) -> Result<()> {
    if matches!(x.shape(), &[_, _, last] if last == embed) {
        return Ok(());
    }
    let rule = format!("{name} must be (batch, length, embed) with embed = {embed}");
    Err(Error::Shape { op, rule: rule.into(), remedy: "", lhs: x.shape().to_vec(), rhs: None })
}

/// A linear map of the last axis of `x` (batch, length, features), plus a residual if there is one, in one product. If `x` and the
/// residual have no gaps, or sequences have one row, the product is of one matrix with all rows, otherwise of one matrix for each
/// sequence.
pub(super) fn mapped<T: Real>(
    linear: &Linear<T>,
    x: &Tensor<T>,
    residual: Option<&Tensor<T>>,
) -> Result<Tensor<T>> {
    let &[batch, length, _] = x.shape() else {
        return Err(Error::shape("linear", "there must be three axes", x.shape()));
    };
    let is_matrix = [Some(x), residual].into_iter().flatten().all(|of| of.layout().is_contiguous());
    let rows = |of: &Tensor<T>| match of.shape().last() {
        Some(&features) if is_matrix => of.reshape([batch * length, features]),
        _ if length == 1 => of.squeeze(1),
        _ => Ok(of.clone()),
    };
    let y = match residual {
        Some(residual) => linear.forward_with_residual(&rows(x)?, &rows(residual)?)?,
        None => linear.forward(&rows(x)?)?,
    };
    y.reshape([batch, length, linear.weight().shape()[0]])
}
