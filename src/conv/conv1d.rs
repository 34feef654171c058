//! Convolutions of sequences: of images of one row.

use super::call::conv2d;
use super::options::{ConvOptions, Padding};
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

const OP: &str = "conv1d";

/// Convolution of sequences, stored channels last: [`conv2d`] of images of one row, with a kernel of one row. Of each option the
/// second number counts, that of columns; there are no rows to pad.
///
/// # Shapes
/// `x` (batch, length, channels), `weight` (outputs, taps, channels / groups), `bias` (outputs) -> (batch, length, outputs), as many
/// as [`conv2d`] has columns. Views of any strides are read in place: sequences stored channels first are `x.permute(&[0, 2, 1])`.
/// # Errors
/// As [`conv2d`], with operands of three axes; [`Error::Input`] for a padding of rows.
/// # Precision
/// As [`conv2d`].
/// # Launches
/// As [`conv2d`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{ConvOptions, Padding, conv1d};
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 4.0, 8.0], [1, 4, 1])?;
/// let differences = gpu.tensor(&[-1.0f32, 1.0], [1, 2, 1])?;
/// let causal = ConvOptions::new().padding(Padding::Explicit([[0, 0], [1, 0]])); // one zero before each sequence
/// assert_eq!(conv1d(&x, &differences, None, &causal)?.to_vec()?, [1.0, 1.0, 2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub fn conv1d<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    options: &ConvOptions,
) -> Result<Tensor<T>> {
    call(OP, || {
        let &[_, length, channels] = x.shape() else {
            return Err(Error::shape(
                OP,
                "the input must have the axes (batch, length, channels)",
                x.shape(),
            ));
        };
        let &[_, taps, of_group] = weight.shape() else {
            let rule = "the weight must have the axes (outputs, taps, channels / groups)";
            return Err(Error::shape(OP, rule, weight.shape()));
        };
        if channels != of_group.saturating_mul(options.groups) && options.groups > 0 {
            let remedy = if channels == taps.saturating_mul(options.groups) {
                ". If the weight is stored channels first, convert it once: `weight.permute(&[0, 2, 1])?.contiguous()?`."
            } else if length == of_group.saturating_mul(options.groups) {
                ". If the sequences are stored channels first, pass `x.permute(&[0, 2, 1])`; `contiguous` converts them once."
            } else {
                ""
            };
            return Err(Error::Shape {
                op: OP,
                rule: "the channels of the input must be those of the weight times the groups".into(),
                remedy,
                lhs: x.shape().to_vec(),
                rhs: Some(weight.shape().to_vec()),
            });
        }
        let [above, below] = match options.padding {
            Padding::Explicit([rows, _]) => rows,
            Padding::Same(_) | Padding::Valid => [0, 0],
        };
        if [above, below] != [0, 0] {
            let why = format!("it is {above} above and {below} below: sequences have no rows to pad");
            return Err(Error::input(format!("{OP}: the padding"), why));
        }
        let images = [x.unsqueeze(1)?, weight.unsqueeze(1)?];
        conv2d(&images[0], &images[1], bias, options)?.squeeze(1)
    })
}
