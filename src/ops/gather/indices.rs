//! Indices along an axis: in a tensor, or known to the host.

use crate::error::call;
use crate::gpu::Gpu;
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::borrow::Cow;

/// Indices along one axis: those of a tensor, which only the device knows, or those of the host, which are checked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Indices<'a> {
    /// Elements of a tensor of one axis. An index out of range is no error: each operation documents its result.
    Tensor(&'a Tensor<i32>),
    /// Numbers of the host. An index out of range is an error.
    Known(&'a [usize]),
}

impl<'a> From<&'a Tensor<i32>> for Indices<'a> {
    fn from(indices: &'a Tensor<i32>) -> Self {
        Self::Tensor(indices)
    }
}

impl<'a> From<&'a [usize]> for Indices<'a> {
    fn from(indices: &'a [usize]) -> Self {
        Self::Known(indices)
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for Indices<'a> {
    fn from(indices: &'a [usize; N]) -> Self {
        Self::Known(indices)
    }
}

impl<'a> From<&'a Vec<usize>> for Indices<'a> {
    fn from(indices: &'a Vec<usize>) -> Self {
        Self::Known(indices)
    }
}

impl<'a> Indices<'a> {
    /// The indices in a tensor on this device. `extent` is that of the axis.
    pub(crate) fn on(self, op: &'static str, gpu: &Gpu, extent: usize) -> Result<Cow<'a, Tensor<i32>>> {
        let indices = match self {
            Self::Tensor(indices) => return Ok(Cow::Borrowed(indices)),
            Self::Known(indices) => indices,
        };
        let number = |(at, &index): (usize, &usize)| {
            let fits = i32::try_from(index).ok().filter(|_| index < extent);
            fits.ok_or_else(|| {
                let why = format!("index {at} is {index}, but the axis has the extent {extent}");
                Error::input(format!("{op}: the indices"), why)
            })
        };
        let numbers = indices.iter().enumerate().map(number).collect::<Result<Vec<i32>>>()?;
        call(op, || gpu.constant_vector(&numbers)).map(Cow::Owned)
    }
}
