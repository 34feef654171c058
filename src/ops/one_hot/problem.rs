//! A checked conversion of ids to ones and zeros, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Layout, MAX_RANK, dim};
use crate::ops::gather::problem::TOO_MANY_AXES_OF_IDS;
use crate::{Error, Result};

/// The name of the operation in errors and plans.
pub(super) const OP: &str = "one_hot";

shader_dims! {
    /// The uniform of `shaders/ops/one_hot.wgsl`.
    pub struct OneHotDims {
        /// of the ids, innermost first: extent, then the stride of the ids, 0, 0
        axes: [[u32; 4]; MAX_RANK],
        /// first id in its binding
        index_offset: u32,
        /// elements of C
        count: u32,
        classes: u32,
        /// number of axes, at least 1
        rank: u32,
        /// the bits of 1
        one: u32,
        reserved: u32,
        more: [u32; 2],
    }
}

/// A checked conversion of ids to rows of ones and zeros. Neither is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OneHotProblem {
    /// The shader's uniform.
    pub(super) dims: OneHotDims,
    /// Type of the result.
    pub(super) dtype: DType,
    /// The layout of the ids, relative to their window.
    pub(super) ids: Layout,
}

impl OneHotProblem {
    /// Rows of `classes` elements of `dtype` for a view of ids.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are no ids or no classes, or six axes; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(ids: &Layout, classes: usize, dtype: DType) -> Result<Self> {
        let shape = result_shape(ids, classes)?;
        if shape.contains(&0) {
            return Err(Error::shape(OP, "there must be ids and classes", &shape));
        }
        let ids = ids.in_window(DType::I32);
        let axes = Axes::of(ids.shape(), |at| [ids.strides()[at]]).at_least_one();
        let mut dims = OneHotDims {
            index_offset: ids.offset_in_window(DType::I32),
            count: dim(OP, shape.iter().product())?,
            classes: dim(OP, classes)?,
            one: dtype.nearest(1.0).0,
            ..OneHotDims::default()
        };
        dims.rank = axes.put(OP, &mut dims.axes)?;
        Ok(Self { dims, dtype, ids })
    }
}

/// The shape of the result.
///
/// # Errors
/// [`Error::Shape`] for six axes of ids, or if the number of elements overflows.
pub(super) fn result_shape(ids: &Layout, classes: usize) -> Result<Vec<usize>> {
    if ids.rank() >= MAX_RANK {
        return Err(Error::shape(OP, TOO_MANY_AXES_OF_IDS, ids.shape()));
    }
    let shape = [ids.shape(), &[classes]].concat();
    Layout::contiguous(OP, &shape)?;
    Ok(shape)
}
