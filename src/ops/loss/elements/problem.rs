//! A checked loss of the elements of two tensors, as plain data.

use super::function::LossFunction;
use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Layout, MAX_RANK, merged_together};
use crate::ops::loss::reduction::{LossGradient, Reduction};
use crate::ops::vectors::per_vector;
use crate::{Error, Result};

shader_dims! {
    /// The uniform of `shaders/ops/loss.wgsl`, in elements.
    pub struct LossDims {
        /// extent, then the strides of A, B and the weights, in elements; innermost first
        axes: [[u32; 4]; MAX_RANK],
        /// first elements of A, B, the weights and g in their bindings
        offsets: [u32; 4],
        /// of a row
        units: u32,
        /// of all rows
        all_units: u32,
        /// number of axes, at least 1
        rank: u32,
        /// workgroups
        blocks: u32,
        /// LANES
        lanes: u32,
        /// of the gradients with respect to the losses: 0 if there is one
        g_stride: u32,
        /// of all gradients
        factor: f32,
        /// another, which the call passes
        g: f32,
        /// the distance from which a Huber loss is linear
        delta: f32,
        /// of sums
        total_factor: f32,
        reserved0: u32,
        reserved1: u32,
    }
}

/// A checked loss of the elements of A with targets B: there is at least one element, both have the same shape, the weights
/// broadcast to it, and every size is below $2^{31}$. The losses and the gradient are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LossProblem {
    pub(super) function: LossFunction,
    /// Type of A, B and the gradient.
    pub(super) dtype: DType,
    /// The operands, relative to their windows, with merged axes.
    pub(super) a: Layout,
    pub(super) b: Layout,
    /// All weights are 1 if there is no tensor of them.
    pub(super) weights: Option<Layout>,
    pub(super) reduction: Reduction,
    pub(super) gradient: LossGradient,
    /// The gradient with respect to the losses, if it is a tensor.
    pub(super) upstream: Option<Layout>,
    /// The number of elements of which a mean is taken: all, also in one of several windows.
    pub(super) count: usize,
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
        // Missing weights step along no axis.
        let w = weights.copied().map_or_else(|| Layout::contiguous(op, &[]), Ok)?.broadcast_to(a.shape())?;
        let operands = [a.in_window(dtype), b.in_window(dtype), w.in_window(DType::F32)];
        let merged = merged_together(operands, 0..a.rank());
        merged.iter().try_for_each(|of| of.check_dims(op))?;
        let [of_a, of_b, w] = merged;
        Ok(Self {
            function,
            dtype,
            a: of_a,
            b: of_b,
            weights: weights.map(|_| w),
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

    /// The axes, with the strides of A, B and the weights.
    pub(super) fn axes(&self) -> Axes<3> {
        let of_weights = |axis: usize| self.weights.map_or(0, |weights| weights.step(axis));
        Axes::of(self.a.shape(), |axis| [self.a.step(axis), self.b.step(axis), of_weights(axis)])
            .at_least_one()
    }

    /// The first elements of A, B and the weights in their bindings.
    pub(super) fn offsets(&self) -> [u32; 3] {
        let of_weights = self.weights.map_or(0, |weights| weights.offset_in_window(DType::F32));
        [self.a.offset_in_window(self.dtype), self.b.offset_in_window(self.dtype), of_weights]
    }

    /// The number of elements of a row, which runs along the innermost axis.
    pub(super) fn row(&self) -> usize {
        self.axes().get(0).extent
    }

    /// How the kernel moves elements.
    pub(super) fn moves(&self) -> LossMoves {
        let width = per_vector(self.dtype) as usize;
        let (axes, offsets) = (self.axes(), self.offsets());
        let row = axes.get(0);
        let begins = |at: usize, width: usize| {
            let starts = axes.iter().skip(1).map(|axis| axis.strides[at]).chain([offsets[at] as usize]);
            starts.into_iter().all(|start| start.is_multiple_of(width))
        };
        let are_rows = (0..2).all(|at| row.strides[at] == 1 && begins(at, width));
        // The rows of losses and gradients are without gaps.
        if !are_rows || (axes.len() > 1 && !row.extent.is_multiple_of(width)) {
            return LossMoves::Elements;
        }
        match row.strides[2] {
            0 => LossMoves::Vectors,
            1 if begins(2, 4) => LossMoves::VectorsWithWeights,
            _ => LossMoves::Elements,
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
