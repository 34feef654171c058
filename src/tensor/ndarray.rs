//! Conversions from and to `ndarray` arrays (feature `ndarray`).

use super::{Element, Tensor};
use crate::error::Named;
use crate::gpu::Gpu;
use crate::{Error, Result};
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

impl Gpu {
    /// Uploads an `ndarray` array or view, of any memory order, as a tensor of the same shape.
    ///
    /// # Errors
    /// As [`Gpu::tensor`].
    pub fn from_ndarray<T, S, D>(&self, array: &ArrayBase<S, D>) -> Result<Tensor<T>>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let uploaded = match array.as_slice() {
            Some(data) => self.tensor(data, array.shape()),
            None => self.tensor(&array.iter().copied().collect::<Vec<_>>(), array.shape()),
        };
        uploaded.named("from_ndarray")
    }
}

impl<T: Element> Tensor<T> {
    /// Reads the tensor back as an `ndarray` array of the same shape, row-major.
    ///
    /// # Errors
    /// As [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_ndarray(&self) -> Result<ArrayD<T>> {
        ArrayD::from_shape_vec(IxDyn(self.shape()), self.to_vec().named("to_ndarray")?).map_err(Error::device)
    }
}
