//! Conversions from and to `ndarray` arrays (feature `ndarray`).

use crate::error::Named;
use crate::gpu::Gpu;
use crate::layout::Element;
use crate::tensor::Tensor;
use crate::{Error, Result};
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};
use std::future::Future;

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
    /// Reads the tensor as a row-major `ndarray` array of the same shape. Not available in a browser: use
    /// [`read_ndarray`](Self::read_ndarray).
    ///
    /// # Errors
    /// As [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_ndarray(&self) -> Result<ArrayD<T>> {
        ArrayD::from_shape_vec(IxDyn(self.shape()), self.to_vec().named("to_ndarray")?).map_err(Error::device)
    }

    /// As `to_ndarray`, without blocking; waits like [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_ndarray(&self) -> impl Future<Output = Result<ArrayD<T>>> + use<T> {
        let (shape, elements) = (IxDyn(self.shape()), self.read());
        async move {
            let elements = elements.await.named("read_ndarray")?;
            ArrayD::from_shape_vec(shape, elements).map_err(Error::device)
        }
    }
}
