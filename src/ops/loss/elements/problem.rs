//! A checked loss of the elements of two tensors, as plain data.

use super::function::LossFunction;
use crate::layout::{Axes, DType, Layout, MAX_RANK, dim};
use crate::ops::loss::reduction::{LossGradient, Reduction};
use crate::ops::vectors::per_vector;
use crate::{Error, Result};

/// The uniform of `shaders/ops/loss.wgsl`, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct LossDims {
    pub axes: [[u32; 4]; MAX_RANK],
    pub offsets: [u32; 4],
    pub units: u32,
    pub all_units: u32,
    pub rank: u32,
    pub blocks: u32,
    pub lanes: u32,
    pub g_stride: u32,
    pub factor: f32,
    pub g: f32,
    pub delta: f32,
    pub total_factor: f32,
    pub reserved0: u32,
    pub reserved1: u32,
}

/// A checked loss of the elements of A with targets B: there is at least one element, both have the same shape, the weights
/// broadcast to it, and every size is below $2^{31}$. The losses and the gradient are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LossProblem {
    pub(super) function: LossFunction,
    /// Type of A, B and the gradient.
    pub(super) dtype: DType,
    /// Extents of the merged axes, and the strides of A, B and the weights; innermost first.
    pub(super) axes: [[u32; 4]; MAX_RANK],
    pub(super) rank: usize,
    /// First elements of A, B and the weights in their bindings.
    pub(super) offsets: [u32; 3],
    pub(super) has_weights: WeightSource,
    pub(super) reduction: Reduction,
    pub(super) gradient: LossGradient,
    /// The gradient with respect to the losses, if it is a tensor.
    pub(super) upstream: Option<Layout>,
    /// The number of elements of the mean: all elements, even if this is one of several windows.
    pub(super) count: usize,
}

/// The source of the weights of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WeightSource {
    /// All are 1.
    Ones,
    /// In a tensor.
    Tensor,
}

/// How the kernel moves elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossMoves {
    /// One by one: any strides.
    Elements,
    /// In vectors of 16 bytes. All elements of a row have one weight.
    Vectors,
    /// In vectors of 16 bytes, the weights too.
    VectorsWithWeights,
}

impl LossProblem {
    /// The losses of `a` with targets `b`, both of `dtype` elements, and `weights` of f32 that broadcast to their shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if `b` has another shape, the weights do not broadcast, or there is no element; [`Error::Limit`] if a
    /// size is $2^{31}$ or more.
    pub fn new(
        function: LossFunction,
        [a, b]: [&Layout; 2],
        weights: Option<&Layout>,
        dtype: DType,
    ) -> Result<Self> {
        let op = function.op();
        check_shapes(op, [a, b], weights)?;
        if a.is_empty() {
            return Err(Error::shape(op, "there must be at least one element", a.shape()));
        }
        dim(op, a.len())?;
        let missing = a.rank() - weights.map_or(a.rank(), Layout::rank);
        let of_weights = |axis: usize| {
            let own = weights.zip(axis.checked_sub(missing));
            own.map_or(0, |(layout, axis)| layout.step(axis))
        };
        let axes = Axes::of(a.shape(), |axis| [a.strides()[axis], b.strides()[axis], of_weights(axis)]);
        let mut sizes = [[1, 0, 0, 0]; MAX_RANK];
        let rank = axes.at_least_one().put(op, &mut sizes)? as usize;
        let f32_offset = weights.map_or(0, |layout| layout.offset_in_window(DType::F32));
        Ok(Self {
            function,
            dtype,
            axes: sizes,
            rank,
            offsets: [a.offset_in_window(dtype), b.offset_in_window(dtype), f32_offset],
            has_weights: if weights.is_some() { WeightSource::Tensor } else { WeightSource::Ones },
            reduction: Reduction::Mean,
            gradient: LossGradient::Skipped,
            upstream: None,
            count: a.len(),
        })
    }

    /// The same with this reduction.
    #[must_use]
    pub fn reduced(self, reduction: Reduction) -> Self {
        Self { reduction, ..self }
    }

    /// The same with the gradient. `upstream` is the layout of the gradient with respect to the losses if it is a tensor: of
    /// one element, or contiguous with one for each loss.
    #[must_use]
    pub fn with_gradient(self, upstream: Option<&Layout>) -> Self {
        let upstream = upstream.map(|layout| layout.in_window(DType::F32));
        Self { gradient: LossGradient::Computed, upstream, ..self }
    }

    /// The extents, innermost first.
    pub(super) fn extents(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.axes[..self.rank].iter().map(|axis| axis[0] as usize)
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.extents().product()
    }

    /// The layout of operand `at`: A, B or the weights.
    pub(super) fn layout(&self, at: usize) -> Result<Layout> {
        let shape: Vec<usize> = self.extents().rev().collect();
        let strides = self.axes[..self.rank].iter().rev();
        let strides: Vec<usize> = strides.map(|axis| axis[at + 1] as usize).collect();
        Layout::new(self.function.op(), &shape, &strides, self.offsets[at] as usize, usize::MAX)
    }

    /// How the kernel moves elements.
    pub(super) fn moves(&self) -> LossMoves {
        let width = per_vector(self.dtype);
        let inner = &self.axes[0];
        let others = &self.axes[1..self.rank];
        let begins = |at: usize, width: u32| {
            let starts = others.iter().map(|axis| axis[at + 1]).chain([self.offsets[at]]);
            starts.into_iter().all(|start| start.is_multiple_of(width))
        };
        let are_rows = (0..2).all(|at| inner[at + 1] == 1 && begins(at, width));
        // The rows of losses and gradients follow each other.
        if !are_rows || (self.rank > 1 && !inner[0].is_multiple_of(width)) {
            LossMoves::Elements
        } else if inner[3] == 0 {
            LossMoves::Vectors
        } else if inner[3] == 1 && begins(2, 4) {
            LossMoves::VectorsWithWeights
        } else {
            LossMoves::Elements
        }
    }
}

/// Checks that the operands have one shape to which the weights broadcast.
pub(super) fn check_shapes(op: &'static str, [a, b]: [&Layout; 2], weights: Option<&Layout>) -> Result<()> {
    if a.shape() != b.shape() {
        return Err(Error::shapes(op, "the target must have the shape of x", b.shape(), a.shape()));
    }
    let Some(weights) = weights else { return Ok(()) };
    let rule = "pos_weight must have the shape of x, or extents of 1, counted from the last axis";
    let wrong = || Error::shapes(op, rule, weights.shape(), a.shape());
    let missing = a.rank().checked_sub(weights.rank()).ok_or_else(wrong)?;
    let fits = weights.shape().iter().zip(&a.shape()[missing..]).all(|(&own, &of_a)| own == of_a || own == 1);
    if fits { Ok(()) } else { Err(wrong()) }
}
