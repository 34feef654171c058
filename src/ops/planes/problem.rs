//! A checked operation on images with channels last, as plain data.

use super::axis::PlaneAxis;
use super::options::PoolDivisor;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim, known};
use crate::ops::vectors::Moves;
use crate::{Error, Result};

shader_dims! {
    /// The uniform of `shaders/ops/pool.wgsl`, `pool_backward.wgsl`, `interpolate.wgsl` and `interpolate_backward.wgsl`.
    pub struct PlaneDims {
        /// of the axis: elements of the image, elements of the pooled or resized image, and two numbers of the rule
        height: [u32; 4],
        /// further numbers of the rule
        height_more: [u32; 4],
        width: [u32; 4],
        width_more: [u32; 4],
        /// along the axes of A
        a_strides: [u32; 4],
        /// along the axes of the indices
        i_strides: [u32; 4],
        /// first element in its binding
        a_offset: u32,
        /// first index in its binding
        i_offset: u32,
        channels: u32,
        /// of four channels, for each position
        groups: u32,
        /// invocations
        units: u32,
        reserved: u32,
        more: [u32; 2],
    }
}

/// What is computed of each channel of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaneFunction {
    /// The largest element of each window.
    Largest,
    /// The same, and the number of its element in the image.
    LargestAndIndices,
    /// The gradient of the largest elements.
    LargestBackward,
    /// The mean of each window.
    Mean(PoolDivisor),
    /// The gradient of the means.
    MeanBackward(PoolDivisor),
    /// The nearest element to each position.
    Nearest,
    /// Its gradient.
    NearestBackward,
    /// A weighted mean of the elements around each position.
    Bilinear,
    /// Its gradient.
    BilinearBackward,
}

/// A checked operation on a view of images (batch, height, width, channels) that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaneProblem {
    pub(super) op: &'static str,
    pub(super) function: PlaneFunction,
    /// Height and width.
    pub(super) axes: [PlaneAxis; 2],
    pub(super) dtype: DType,
    /// The view, relative to its window: the images, or the gradient of the pooled or resized images.
    pub(super) a: Layout,
    /// The indices that are read.
    pub(super) indices: Option<Layout>,
    pub(super) c: Layout,
}

impl PlaneFunction {
    /// Whether it computes the gradient of the images.
    pub(super) fn is_backward(self) -> bool {
        match self {
            Self::Largest | Self::LargestAndIndices | Self::Mean(_) | Self::Nearest | Self::Bilinear => false,
            Self::LargestBackward
            | Self::MeanBackward(_)
            | Self::NearestBackward
            | Self::BilinearBackward => true,
        }
    }
}

impl PlaneProblem {
    /// The operation `op` on `a`, a view of `dtype` elements: images, or the gradient of pooled or resized ones. `indices` are those
    /// of a pooling, if their gradient is computed.
    ///
    /// # Errors
    /// [`Error::Shape`] if the view is empty, has other axes than four, or others than the rules say, or the indices have another
    /// shape; [`Error::Input`] if the elements are integers; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(
        op: &'static str,
        function: PlaneFunction,
        axes: [PlaneAxis; 2],
        (a, dtype): (&Layout, DType),
        indices: Option<&Layout>,
    ) -> Result<Self> {
        let c = result(op, function, axes, a)?;
        if !dtype.is_real() {
            return Err(Error::input(
                format!("{op}: the elements"),
                format!("they must be reals, not {dtype}"),
            ));
        }
        if a.is_empty() {
            return Err(Error::shape(op, "there must be an element", a.shape()));
        }
        c.check_dims(op)?;
        // An index counts the elements of an image.
        dim(op, axes[0].inputs.saturating_mul(axes[1].inputs))?;
        let a = a.in_window(dtype);
        a.check_dims(op)?;
        let indices = indices.map(|of| {
            if of.shape() != a.shape() {
                return Err(Error::shapes(
                    op,
                    "the indices must have the shape of the gradient",
                    of.shape(),
                    a.shape(),
                ));
            }
            let of = of.in_window(DType::I32);
            of.check_dims(op).map(|()| of)
        });
        Ok(Self { op, function, axes, dtype, a, indices: indices.transpose()?, c })
    }

    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self) -> PlaneDims {
        let [[height, height_more], [width, width_more]] = self.axes.map(|axis| axis.numbers());
        let strides = |of: &Layout| [0, 1, 2, 3].map(|axis| known(of.step(axis)));
        let channels = self.channels();
        let groups = channels.div_ceil(4);
        PlaneDims {
            height,
            height_more,
            width,
            width_more,
            a_strides: strides(&self.a),
            i_strides: self.indices.as_ref().map_or([0; 4], strides),
            a_offset: self.a.offset_in_window(self.dtype),
            i_offset: self.indices.map_or(0, |of| of.offset_in_window(DType::I32)),
            channels,
            groups,
            units: known(self.c.len()) / channels * groups,
            ..PlaneDims::default()
        }
    }

    pub(super) fn channels(&self) -> u32 {
        known(self.c.shape()[3])
    }

    /// Vectors, if every four channels of A, and of the indices, are neighbours from a multiple of four.
    pub(super) fn moves(&self) -> Moves {
        let is_aligned = |layout: &Layout, dtype| {
            let starts = [0, 1, 2].map(|axis| known(layout.step(axis))).into_iter();
            layout.step(3) == 1
                && starts.chain([layout.offset_in_window(dtype)]).all(|start| start.is_multiple_of(4))
        };
        let all =
            is_aligned(&self.a, self.dtype) && self.indices.is_none_or(|of| is_aligned(&of, DType::I32));
        if all && self.channels().is_multiple_of(4) { Moves::Vectors } else { Moves::Elements }
    }
}

/// The layout of the result.
///
/// # Errors
/// [`Error::Shape`] if `a` has other axes than four, or another height or width than the rules say.
pub(super) fn result(
    op: &'static str,
    function: PlaneFunction,
    axes: [PlaneAxis; 2],
    a: &Layout,
) -> Result<Layout> {
    let [batch, rows, columns, channels] = image_shape(op, a.shape())?;
    let (inputs, outputs) = (axes.map(|axis| axis.inputs), axes.map(|axis| axis.outputs));
    let (from, to) = if function.is_backward() { (outputs, inputs) } else { (inputs, outputs) };
    if [rows, columns] != from {
        let rule = "the gradient must have the height and width of the result";
        return Err(Error::shapes(op, rule, a.shape(), &from));
    }
    Layout::contiguous(op, &[batch, to[0], to[1], channels])
}

/// The axes of a gradient for images of this size: both have a height and a width.
pub(super) fn gradient_shape(op: &'static str, shape: &[usize], size: [usize; 2]) -> Result<[usize; 4]> {
    if size.contains(&0) {
        return Err(Error::input(format!("{op}: the size"), "it must be at least 1 along each axis"));
    }
    let axes = image_shape(op, shape)?;
    if axes[1..3].contains(&0) {
        return Err(Error::shape(op, "the gradient must have a height and a width", shape));
    }
    Ok(axes)
}

/// The four extents of images.
pub(super) fn image_shape(op: &'static str, shape: &[usize]) -> Result<[usize; 4]> {
    let rule = "images have four axes, (batch, height, width, channels): unsqueeze(0) makes a batch of one, and \
                permute(&[0, 2, 3, 1]) a view of (batch, channels, height, width)";
    shape.try_into().map_err(|_| Error::shape(op, rule, shape))
}
