//! Axes that count as one: kernels find an element's place by a division for each axis, so fewer axes are faster. Each operation
//! takes the strides of all its operands together.

use crate::Result;
use crate::layout::dim;

/// An axis: its extent, and the strides of several operands along it.
pub(super) type Axis<const N: usize> = (usize, [usize; N]);

/// These axes, innermost first, without those of one index. Neighbours are one axis if, in every operand, the outer stride is the
/// extent times the inner stride.
pub(super) fn merged<const N: usize>(axes: impl IntoIterator<Item = Axis<N>>) -> Vec<Axis<N>> {
    let mut merged: Vec<Axis<N>> = Vec::new();
    for (extent, strides) in axes.into_iter().filter(|(extent, _)| *extent > 1) {
        match merged.last_mut() {
            Some((inner, of_inner)) if strides == of_inner.map(|stride| stride.saturating_mul(*inner)) => {
                *inner *= extent;
            }
            _ => merged.push((extent, strides)),
        }
    }
    merged
}

/// Puts axes into a uniform: the extent of each, and then its strides. No axes count as one of one index. Returns their number.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) if a number is $2^{31}$ or more.
pub(super) fn put<const N: usize>(op: &'static str, axes: &[Axis<N>], to: &mut [[u32; 4]]) -> Result<u32> {
    to[0] = [1, 0, 0, 0];
    for (to, (extent, strides)) in to.iter_mut().zip(axes) {
        to[0] = dim(op, *extent)?;
        for (to, stride) in to[1..].iter_mut().zip(strides) {
            *to = dim(op, *stride)?;
        }
    }
    dim(op, axes.len().max(1))
}
