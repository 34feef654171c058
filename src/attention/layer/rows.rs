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

/// A linear map of the last axis of `x` (batch, length, features), plus a residual if there is one, as one product. If `x` has no
/// gaps, it has one matrix of all rows, otherwise one for each sequence.
pub(super) fn mapped<T: Real>(
    linear: &Linear<T>,
    x: &Tensor<T>,
    residual: Option<&Tensor<T>>,
) -> Result<Tensor<T>> {
    let (&features, leading) =
        x.shape().split_last().ok_or_else(|| Error::shape("linear", "there must be an axis", &[]))?;
    let rows = leading.iter().product::<usize>();
    let shape: Vec<usize> = leading.iter().copied().chain([linear.weight().shape()[0]]).collect();
    let merges = |x: &Tensor<T>| x.layout().is_contiguous();
    let y = match residual {
        _ if !merges(x) || !residual.is_none_or(merges) => match residual {
            Some(residual) => linear.forward_with_residual(x, residual)?,
            None => linear.forward(x)?,
        },
        Some(residual) => {
            let residual = residual.reshape([rows, shape[shape.len() - 1]])?;
            linear.forward_with_residual(&x.reshape([rows, features])?, &residual)?
        }
        None => linear.forward(&x.reshape([rows, features])?)?,
    };
    y.reshape(shape)
}
