//! A checked softmax or gradient of one, as plain data.

use super::function::SoftmaxFunction;
use crate::layout::{DType, Layout, MAX_RANK, dim};
use crate::ops::elementwise::problem::broadcast_strides;
use crate::ops::vectors::{Moves, quads};
use crate::{Error, Result};

/// The uniform of `shaders/ops/softmax.wgsl`, `softmax_columns.wgsl`, `softmax_backward.wgsl` and
/// `softmax_backward_columns.wgsl` (`softmax_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SoftmaxDims {
    pub axes: [[u32; 4]; MAX_RANK - 1],
    pub strides: [u32; 4],
    pub a_offset: u32,
    pub m_offset: u32,
    pub rows: u32,
    pub rank: u32,
    pub lanes: u32,
    pub scale: f32,
    pub reserved0: u32,
    pub reserved1: u32,
}

/// Which elements neighbouring invocations read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Across {
    /// Neighbours along the axis.
    Row,
    /// Neighbouring columns.
    Columns,
}

/// A checked softmax or gradient of one along an axis, and the number of elements is below $2^{31}$. The result is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftmaxProblem {
    /// The function.
    pub(super) function: SoftmaxFunction,
    /// Type of all elements.
    pub(super) dtype: DType,
    /// The operand, relative to its window: x or y.
    pub(super) a: Layout,
    /// The mask, broadcast to the shape of the operand, or the gradient of y.
    pub(super) m: Option<Layout>,
    /// The other axes, merged, innermost first: extent, and the strides of C, A and M.
    axes: [[u32; 4]; MAX_RANK - 1],
    rank: u32,
    /// The strides along the axis of C, A and M, and its length.
    pub(super) strides: [u32; 4],
    /// Which elements neighbouring invocations read.
    pub(super) across: Across,
}

impl SoftmaxProblem {
    /// `function` along an axis of `a`, a view of `dtype` elements. The second operand `m` is the mask of a softmax, which
    /// broadcasts to `a`, or the gradient of the result `a`. The views must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` has no such axis or is empty, if a mask does not broadcast to `a`, or a gradient has another shape;
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(
        function: SoftmaxFunction,
        a: &Layout,
        m: Option<&Layout>,
        axis: usize,
        dtype: DType,
    ) -> Result<Self> {
        let op = function.op();
        function.check(a, m, axis)?;
        if a.is_empty() {
            return Err(Error::shape(op, "the operand must have an element", a.shape()));
        }
        dim(op, a.len())?;
        let c = Layout::contiguous(op, a.shape())?;
        let broadcast = m.map(|m| broadcast_strides(op, m, a)).transpose()?;
        let m_strides = broadcast.unwrap_or_default();
        let steps = |axis: usize| -> [usize; 4] {
            let extent = a.shape()[axis];
            let step = |stride: usize| if extent > 1 { stride } else { 0 };
            [extent, step(c.strides()[axis]), step(a.strides()[axis]), step(m_strides[axis])]
        };
        let mut axes: Vec<[usize; 4]> = Vec::new();
        for axis in (0..a.rank()).rev().filter(|&other| other != axis && a.shape()[other] > 1) {
            let [extent, outer @ ..] = steps(axis);
            match axes.last_mut() {
                Some([inner, strides @ ..])
                    if outer == strides.map(|stride| stride.saturating_mul(*inner)) =>
                {
                    *inner *= extent;
                }
                _ => axes.push([extent, outer[0], outer[1], outer[2]]),
            }
        }
        let [length, along @ ..] = steps(axis);
        // Neighbours are columns if some other step of A is smaller than that along the axis.
        let nearest = (0..axes.len()).filter(|&at| axes[at][2] > 0).min_by_key(|&at| axes[at][2]);
        let nearest = nearest.filter(|&at| axes[at][2] < along[1]);
        if let Some(at) = nearest {
            let columns = axes.remove(at);
            axes.insert(0, columns);
        }
        let mut sizes = [[0; 4]; MAX_RANK - 1];
        for (to, from) in sizes.iter_mut().zip(&axes) {
            for (to, &size) in to.iter_mut().zip(from) {
                *to = dim(op, size)?;
            }
        }
        let m = match m {
            Some(m) => Some(Layout::new(op, a.shape(), &m_strides[..a.rank()], m.offset(), usize::MAX)?),
            None => None,
        };
        Ok(Self {
            function,
            dtype,
            a: a.in_window(dtype),
            m: m.map(|m| m.in_window(dtype)),
            axes: sizes,
            rank: dim(op, axes.len())?,
            strides: [dim(op, along[0])?, dim(op, along[1])?, dim(op, along[2])?, dim(op, length)?],
            across: if nearest.is_some() { Across::Columns } else { Across::Row },
        })
    }

    /// The shaders' uniform, without what depends on the device and the call.
    #[must_use]
    pub fn dims(&self) -> SoftmaxDims {
        let others = &self.axes[usize::from(self.across == Across::Columns)..self.rank as usize];
        SoftmaxDims {
            axes: self.axes,
            strides: self.strides,
            a_offset: self.a.offset_in_window(self.dtype),
            m_offset: self.m.map_or(0, |m| m.offset_in_window(self.dtype)),
            rows: others.iter().map(|axis| axis[0]).product(),
            rank: self.rank,
            lanes: 1,
            scale: 1.0,
            ..SoftmaxDims::default()
        }
    }

    /// How the kernel moves elements: those of the operand and the result, and those of a gradient.
    pub(super) fn moves(&self) -> Moves {
        let d = self.dims();
        let axes = &self.axes[..self.rank as usize];
        let which: &[usize] = if self.function.is_backward() { &[1, 2, 3] } else { &[1, 2] };
        let of = |axis: &[u32; 4]| which.iter().map(|&x| axis[x]).collect::<Vec<u32>>();
        let [c, a, m, length] = self.strides;
        let along = [0, c, a, m];
        let mut starts: Vec<u32> = vec![d.a_offset];
        if self.function.is_backward() {
            starts.push(d.m_offset);
        }
        let neighbours = match self.across {
            Across::Row => {
                starts.extend(axes.iter().flat_map(of));
                if length > 1 { of(&along) } else { vec![1] }
            }
            Across::Columns => {
                starts.extend(axes[1..].iter().flat_map(of));
                starts.extend(of(&along));
                of(&axes[0])
            }
        };
        Moves::of(self.dtype, neighbours, starts)
    }

    /// Groups of four elements that an invocation loads together.
    pub(super) fn quads(&self) -> u32 {
        if self.moves() == Moves::Vectors { quads(self.dtype) } else { 1 }
    }

    /// The number of columns, if neighbours are columns.
    pub(super) fn columns(&self) -> u32 {
        self.axes[0][0]
    }
}
