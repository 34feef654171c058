//! Pixels from channels, and channels from pixels.

use super::problem::image_shape;
use crate::error::call;
use crate::layout::{Element, Layout, Overflow};
use crate::ops::cast::CastProblem;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Turns channels into pixels: each pixel of `factor * factor` times as many channels becomes `factor` by `factor` pixels. Channel
/// `c * factor * factor + i * factor + j` of pixel (h, w) becomes channel c of pixel (h `factor` + i, w `factor` + j), as in `PyTorch`.
///
/// A view, if the strides of `x` allow it, as they do for a result of [`pixel_unshuffle`] that is a view; otherwise one launch,
/// which reads and writes each element once. The gradient is [`pixel_unshuffle`] of the result's gradient.
///
/// # Shapes
/// (batch, height, width, channels `factor`²) -> (batch, height `factor`, width `factor`, channels), any strides.
/// # Errors
/// [`Error::Shape`] if `x` has other axes than four, or the square of the factor does not divide the channels; [`Error::Input`] if
/// the factor is 0; [`Error::Limit`] and [`Error::OutOfMemory`] as [`Tensor::contiguous`].
/// # Precision
/// Every bit is kept: [`reference::pixel_shuffle`](crate::reference::pixel_shuffle).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{pixel_shuffle, pixel_unshuffle};
///
/// let x = gpu.tensor(&[1, 2, 3, 4, 5, 6, 7, 8], [1, 1, 2, 4])?; // two pixels of four channels
/// let y = pixel_shuffle(&x, 2)?;
/// assert_eq!(y.shape(), [1, 2, 4, 1]);
/// assert_eq!(y.to_vec()?, [1, 2, 5, 6, 3, 4, 7, 8]);
/// assert_eq!(pixel_unshuffle(&y, 2)?.to_vec()?, x.to_vec()?);
/// # Ok(())
/// # }
/// ```
pub fn pixel_shuffle<T: Element>(x: &Tensor<T>, factor: usize) -> Result<Tensor<T>> {
    let op = "pixel_shuffle";
    call(op, || {
        let [batch, rows, columns, channels] = image_shape(op, x.shape())?;
        let square = square(op, factor)?;
        if !channels.is_multiple_of(square) {
            let rule = format!("the square of the factor, {square}, must divide the channels");
            return Err(Error::shape(op, rule, x.shape()));
        }
        let whole = [batch, rows.saturating_mul(factor), columns.saturating_mul(factor), channels / square];
        if x.is_empty() {
            return x.gpu().empty(whole);
        }
        let of = x.layout().strides();
        let shape = [batch, rows, columns, channels / square, factor, factor];
        let strides = [of[0], of[1], of[2], of[3] * square, of[3] * factor, of[3]];
        // (batch, rows, i, columns, j, channels)
        let apart = x.layout().with_axes(&shape, &strides).permute(&[0, 1, 4, 2, 5, 3])?;
        let together = apart.joined(3..5).and_then(|of| of.joined(1..3));
        viewed(x, apart, together, whole)
    })
}

/// Turns pixels into channels: the inverse of [`pixel_shuffle`], which is also its gradient.
///
/// A view, if the strides of `x` allow it; otherwise one launch, which reads and writes each element once.
///
/// # Shapes
/// (batch, height `factor`, width `factor`, channels) -> (batch, height, width, channels `factor`²), any strides.
/// # Errors
/// [`Error::Shape`] if `x` has other axes than four, or the factor does not divide height and width; otherwise as [`pixel_shuffle`].
/// # Precision
/// Every bit is kept: [`reference::pixel_unshuffle`](crate::reference::pixel_unshuffle).
pub fn pixel_unshuffle<T: Element>(x: &Tensor<T>, factor: usize) -> Result<Tensor<T>> {
    let op = "pixel_unshuffle";
    call(op, || {
        let [batch, rows, columns, channels] = image_shape(op, x.shape())?;
        let square = square(op, factor)?;
        if !rows.is_multiple_of(factor) || !columns.is_multiple_of(factor) {
            let rule = format!("the factor, {factor}, must divide the height and the width");
            return Err(Error::shape(op, rule, x.shape()));
        }
        let whole = [batch, rows / factor, columns / factor, channels.saturating_mul(square)];
        if x.is_empty() {
            return x.gpu().empty(whole);
        }
        let of = x.layout().strides();
        let shape = [batch, rows / factor, factor, columns / factor, factor, channels];
        let strides = [of[0], of[1] * factor, of[1], of[2] * factor, of[2], of[3]];
        // (batch, rows, columns, channels, i, j)
        let apart = x.layout().with_axes(&shape, &strides).permute(&[0, 1, 3, 5, 2, 4])?;
        viewed(x, apart, apart.joined(3..6), whole)
    })
}

/// The square of a factor.
fn square(op: &'static str, factor: usize) -> Result<usize> {
    let fits = factor.checked_mul(factor).filter(|&square| square > 0);
    fits.ok_or_else(|| {
        Error::input(
            format!("{op}: the factor"),
            format!("its square must be at least 1, and no more than the channels; got {factor}"),
        )
    })
}

/// The elements in their new order: as a view, or as a copy of the view whose axes are apart.
fn viewed<T: Element>(
    x: &Tensor<T>,
    apart: Layout,
    together: Option<Layout>,
    shape: [usize; 4],
) -> Result<Tensor<T>> {
    match together {
        Some(layout) => Ok(x.with_layout(layout)),
        None => {
            let problem = CastProblem::new(&apart, T::DTYPE, T::DTYPE, Overflow::Rust)?;
            Tensor::computed(x.gpu(), &problem, &[x.with_layout(apart).view()], &[], shape)
        }
    }
}
