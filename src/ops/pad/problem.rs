//! A checked padding, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, MAX_RANK, dim};
use crate::{Error, Result};

/// The name of the operation in errors and plans.
pub(super) const OP: &str = "pad";

shader_dims! {
    /// The uniform of `shaders/ops/pad.wgsl`.
    pub struct PadDims {
        /// innermost first: extent of C, elements before A, extent of A, stride of A
        axes: [[u32; 4]; MAX_RANK],
        /// first element in its binding
        a_offset: u32,
        /// elements of C
        count: u32,
        /// number of axes, at least 1
        rank: u32,
        /// the bits of an element
        value: u32,
    }
}

/// A checked padding of a view that is not empty, in a contiguous C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PadProblem {
    /// The shader's uniform. The call passes the value.
    pub(super) dims: PadDims,
    pub(super) dtype: DType,
    /// The layout of the view, relative to its window.
    pub(super) a: Layout,
    /// The elements before and after each axis.
    pub(super) padding: [(usize, usize); MAX_RANK],
}

/// An axis of C, or several merged axes: its extent, the elements before A, and the extent and stride of A.
#[derive(Clone, Copy)]
struct PaddedAxis {
    extent: usize,
    before: usize,
    inner: usize,
    stride: usize,
}

impl PadProblem {
    /// The padding of `a`, a view of `dtype` elements, by numbers of elements before and after each axis.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is a pair for each axis, or if `a` is empty; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(a: &Layout, padding: &[(usize, usize)], dtype: DType) -> Result<Self> {
        padded_shape(a, padding)?;
        if a.is_empty() {
            return Err(Error::shape(OP, "the view must have at least one element", a.shape()));
        }
        Self::of_any(a, padding, dtype)
    }

    /// The same for a view that may be empty, if the result is not.
    pub(super) fn of_any(a: &Layout, padding: &[(usize, usize)], dtype: DType) -> Result<Self> {
        let shape = padded_shape(a, padding)?;
        let a = a.in_window(dtype);
        let mut axes: Vec<PaddedAxis> = Vec::with_capacity(MAX_RANK);
        // If a window of C has one index and no element of A, it is padding only.
        for at in (0..a.rank()).rev().filter(|&at| shape[at] > 1 || a.shape()[at] == 0) {
            let axis = PaddedAxis {
                extent: shape[at],
                before: padding[at].0,
                inner: a.shape()[at],
                stride: a.strides()[at],
            };
            match axes.last_mut() {
                // The inner axis has no padding, and the strides of A allow the merge.
                Some(within)
                    if within.extent == within.inner
                        && axis.stride == within.stride.saturating_mul(within.extent) =>
                {
                    *within = PaddedAxis {
                        extent: axis.extent * within.extent,
                        before: axis.before * within.extent,
                        inner: axis.inner * within.extent,
                        stride: within.stride,
                    };
                }
                _ => axes.push(axis),
            }
        }
        if axes.is_empty() {
            axes.push(PaddedAxis { extent: 1, before: 0, inner: 1, stride: 0 });
        }
        let mut dims = PadDims {
            a_offset: a.offset_in_window(dtype),
            count: dim(OP, shape.iter().product())?,
            rank: dim(OP, axes.len())?,
            ..PadDims::default()
        };
        for (to, axis) in dims.axes.iter_mut().zip(axes) {
            let PaddedAxis { extent, before, inner, stride } = axis;
            *to = [dim(OP, extent)?, dim(OP, before)?, dim(OP, inner)?, dim(OP, stride)?];
        }
        let mut of_axes = [(0, 0); MAX_RANK];
        of_axes.iter_mut().zip(padding).for_each(|(to, &pair)| *to = pair);
        Ok(Self { dims, dtype, a, padding: of_axes })
    }
}

/// The shape of the padded tensor.
///
/// # Errors
/// [`Error::Shape`] unless there is a pair for each axis, or if the number of elements overflows.
pub(super) fn padded_shape(a: &Layout, padding: &[(usize, usize)]) -> Result<Vec<usize>> {
    if padding.len() != a.rank() {
        let rule = "there must be a pair of numbers for each axis";
        return Err(Error::shapes(OP, rule, a.shape(), &[padding.len()]));
    }
    let extents = a.shape().iter().zip(padding);
    let shape: Vec<usize> = extents
        .map(|(&extent, &(before, after))| extent.saturating_add(before).saturating_add(after))
        .collect();
    Layout::contiguous(OP, &shape)?;
    Ok(shape)
}
