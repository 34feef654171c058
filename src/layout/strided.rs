//! [`Layout`]: the positions of a tensor's elements in its buffer.

use crate::{Error, Result};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Bound, Range, RangeBounds};

/// The largest number of axes of a tensor.
pub(crate) const MAX_RANK: usize = 6;

/// Shape, strides and offset of a view, in elements. Small plain data, compared by value.
///
/// Its constructors prove that every element is within the buffer. Kernels rely on that.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    rank: usize,
    /// Ones behind the axes, as the strides have zeros there: equal layouts are equal in all places.
    shape: [usize; MAX_RANK],
    strides: [usize; MAX_RANK],
    offset: usize,
}

/// Of the axes that there are: a problem hashes its layouts in each call.
impl Hash for Layout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.rank);
        state.write_usize(self.offset);
        for axis in 0..self.rank {
            state.write_usize(self.shape[axis]);
            state.write_usize(self.strides[axis]);
        }
    }
}

impl Layout {
    /// The largest number of axes.
    pub const MAX_RANK: usize = MAX_RANK;

    /// A row-major layout without gaps, from the start of the buffer.
    ///
    /// # Errors
    /// [`Error::Shape`] for more than [`MAX_RANK`](Self::MAX_RANK) axes, or if the number of elements overflows.
    pub fn contiguous(op: &'static str, shape: &[usize]) -> Result<Self> {
        element_count(op, shape)?;
        let mut layout = Self { rank: shape.len(), ..Self::unit() };
        layout.shape[..shape.len()].copy_from_slice(shape);
        Ok(layout.dense())
    }

    /// A layout with any strides, in a buffer of `len` elements.
    ///
    /// # Errors
    /// [`Error::Shape`] if shape and strides differ in length or have more than [`MAX_RANK`](Self::MAX_RANK) axes, or if an element is
    /// beyond `len`.
    pub fn new(
        op: &'static str,
        shape: &[usize],
        strides: &[usize],
        offset: usize,
        len: usize,
    ) -> Result<Self> {
        let mut layout = Self::contiguous(op, shape)?;
        if strides.len() != shape.len() {
            return Err(Error::shapes(op, "shape and strides must have the same length", shape, strides));
        }
        layout.strides[..shape.len()].copy_from_slice(strides);
        layout.offset = offset;
        let mut steps =
            shape.iter().zip(strides).map(|(&extent, &stride)| extent.saturating_sub(1).checked_mul(stride));
        let last = steps.try_fold(offset, |sum, step| sum.checked_add(step?));
        let empty = shape.contains(&0);
        if (empty && offset <= len) || last.is_some_and(|last| last < len) {
            return Ok(layout);
        }
        let rule = "the view must stay within the elements of the buffer";
        Err(Error::shapes(op, rule, &[last.unwrap_or(usize::MAX)], &[len]))
    }

    /// The same shape with these strides and this offset, for another buffer. The caller ensures that it is large
    /// enough.
    pub(crate) fn at(&self, strides: &[usize], offset: usize) -> Self {
        let mut layout = Self { offset, ..*self };
        layout.strides[..self.rank].copy_from_slice(&strides[..self.rank]);
        layout
    }

    /// The same elements with at most as many axes. The caller ensures that these lead to the same elements.
    pub(crate) fn with_axes(&self, shape: &[usize], strides: &[usize]) -> Self {
        let mut layout = Self { rank: shape.len(), offset: self.offset, ..Self::unit() };
        layout.shape[..shape.len()].copy_from_slice(shape);
        layout.strides[..shape.len()].copy_from_slice(strides);
        layout
    }

    /// This number of contiguous elements, from the start of a buffer. The caller ensures that the buffer has them.
    pub(crate) fn line(elements: usize) -> Self {
        Self::unit().with_axes(&[elements], &[1])
    }

    /// The elements at index 0 of an axis, without this axis.
    pub(crate) fn without_axis(&self, axis: usize) -> Self {
        let rest = |of: &[usize]| [&of[..axis], &of[axis + 1..]].concat();
        self.with_axes(&rest(self.shape()), &rest(self.strides()))
    }

    /// The same elements with another axis, which comes to be `axis`. The caller ensures that the buffer has its elements, and
    /// that there are at most 6 axes.
    pub(crate) fn with_axis(&self, axis: usize, extent: usize, stride: usize) -> Self {
        let with = |of: &[usize], number| [&of[..axis], &[number], &of[axis..]].concat();
        self.with_axes(&with(self.shape(), extent), &with(self.strides(), stride))
    }

    /// The same shape without gaps, from the start of a buffer, with the axes in the same order in memory. An axis along
    /// which elements are repeated keeps stride 0.
    pub(crate) fn without_gaps(&self) -> Self {
        let mut order: Vec<usize> = (0..self.rank).collect();
        order.sort_by_key(|&axis| self.strides[axis]);
        let mut layout = Self { strides: [0; MAX_RANK], offset: 0, ..*self };
        let mut next = 1;
        for axis in order.into_iter().filter(|&axis| self.strides[axis] > 0 || self.shape[axis] == 1) {
            layout.strides[axis] = next;
            next *= self.shape[axis].max(1);
        }
        layout
    }

    /// The shape without gaps, from the start of a buffer.
    pub(crate) fn dense(&self) -> Self {
        let mut layout = Self { offset: 0, ..*self };
        let mut stride = 1;
        for axis in (0..self.rank).rev() {
            layout.strides[axis] = stride;
            stride *= self.shape[axis].max(1);
        }
        layout
    }

    /// The elements along one axis if they are contiguous, otherwise the same layout.
    pub(crate) fn flattened(&self) -> Self {
        if !self.is_contiguous() {
            return *self;
        }
        self.with_axes(&[self.len()], &[1])
    }

    /// The axis along which the elements span the most.
    pub(crate) fn widest_axis(&self) -> Option<usize> {
        let reach = |&axis: &usize| self.shape[axis].saturating_sub(1).saturating_mul(self.strides[axis]);
        (0..self.rank).rev().max_by_key(reach).filter(|axis| reach(axis) > 0)
    }

    fn unit() -> Self {
        Self { rank: 0, shape: [1; MAX_RANK], strides: [0; MAX_RANK], offset: 0 }
    }

    /// Extent of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }

    /// Stride of each axis in elements.
    #[must_use]
    pub fn strides(&self) -> &[usize] {
        &self.strides[..self.rank]
    }

    /// The stride along an axis, or 0 if it has one index.
    pub(crate) fn step(&self, axis: usize) -> usize {
        if self.shape[axis] > 1 { self.strides[axis] } else { 0 }
    }

    /// Position of the first element in the buffer.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of elements of the view.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Range of the buffer from the view's first element to its last.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        if self.is_empty() {
            return self.offset..self.offset;
        }
        let steps = self.shape().iter().zip(self.strides());
        let last: usize = steps.map(|(extent, stride)| (extent - 1) * stride).sum();
        self.offset..self.offset + last + 1
    }

    /// Whether the elements are row-major without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        let mut stride = 1;
        for axis in (0..self.rank).rev() {
            if self.shape[axis] != 1 && self.strides[axis] != stride {
                return self.is_empty();
            }
            stride *= self.shape[axis];
        }
        true
    }

    /// Reorders the axes. Axis `i` of the result is axis `axes[i]` of this layout.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `axes` names each axis once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if sorted != (0..self.rank).collect::<Vec<_>>() {
            return Err(Error::shapes(
                "permute",
                "every axis of the shape must be named once",
                self.shape(),
                axes,
            ));
        }
        let mut layout = *self;
        for (to, &from) in axes.iter().enumerate() {
            layout.shape[to] = self.shape[from];
            layout.strides[to] = self.strides[from];
        }
        Ok(layout)
    }

    /// Exchanges the last two axes. A layout of fewer than two axes stays as it is.
    #[must_use]
    pub fn t(&self) -> Self {
        let mut layout = *self;
        if let Some(last) = self.rank.checked_sub(1).filter(|&last| last > 0) {
            layout.shape.swap(last - 1, last);
            layout.strides.swap(last - 1, last);
        }
        layout
    }

    /// Selects the indices in `range` along one axis.
    ///
    /// # Errors
    /// [`Error::Shape`] if the axis does not exist or the range exceeds it.
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Result<Self> {
        let op = "slice";
        if axis >= self.rank {
            return Err(Error::shapes(op, "the axis must be one of the shape", self.shape(), &[axis]));
        }
        let start = match range.start_bound() {
            Bound::Included(&i) => i,
            Bound::Excluded(&i) => i.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&i) => i.saturating_add(1),
            Bound::Excluded(&i) => i,
            Bound::Unbounded => self.shape[axis],
        };
        if start > end || end > self.shape[axis] {
            return Err(Error::shapes(
                op,
                "the range must lie within the axis",
                &[self.shape[axis]],
                &[start, end],
            ));
        }
        let mut layout = *self;
        layout.shape[axis] = end - start;
        if !layout.is_empty() {
            layout.offset += start * self.strides[axis];
        }
        Ok(layout)
    }

    /// Removes an axis of extent 1.
    ///
    /// # Errors
    /// [`Error::Shape`] if the axis does not exist or its extent is not 1.
    pub fn squeeze(&self, axis: usize) -> Result<Self> {
        let op = "squeeze";
        match self.shape().get(axis) {
            None => Err(Error::shapes(op, "the axis must be one of the shape", self.shape(), &[axis])),
            Some(1) => {
                let mut layout = *self;
                layout.shape.copy_within(axis + 1.., axis);
                layout.strides.copy_within(axis + 1.., axis);
                layout.rank -= 1;
                (layout.shape[layout.rank], layout.strides[layout.rank]) = (1, 0);
                Ok(layout)
            }
            Some(_) => {
                let rule = "the extent of the axis must be 1: reshape() or sum() removes others";
                Err(Error::shapes(op, rule, self.shape(), &[axis]))
            }
        }
    }

    /// Inserts an axis of extent 1, which becomes axis `axis` of the result.
    ///
    /// # Errors
    /// [`Error::Shape`] if `axis` is larger than the number of axes, or there are [`MAX_RANK`](Self::MAX_RANK) axes already.
    pub fn unsqueeze(&self, axis: usize) -> Result<Self> {
        let op = "unsqueeze";
        if axis > self.rank {
            let rule = "the new axis must be at most the number of axes";
            return Err(Error::shapes(op, rule, self.shape(), &[axis]));
        }
        if self.rank == MAX_RANK {
            return Err(Error::shapes(op, "a tensor has at most 6 axes", self.shape(), &[axis]));
        }
        let mut layout = *self;
        layout.shape.copy_within(axis..self.rank, axis + 1);
        layout.strides.copy_within(axis..self.rank, axis + 1);
        // The stride of a row-major tensor without gaps. It has no effect, because the axis has extent 1.
        let inner = if axis < self.rank { self.shape[axis].checked_mul(self.strides[axis]) } else { Some(1) };
        (layout.shape[axis], layout.strides[axis]) = (1, inner.unwrap_or(0));
        layout.rank += 1;
        Ok(layout)
    }

    /// Repeats the elements along axes of extent 1 and along new leading axes, as in `NumPy`: their strides are 0.
    ///
    /// # Errors
    /// [`Error::Shape`] unless each axis, counted from the last, has the extent of `shape` or 1; if `shape` has fewer axes, or more
    /// than [`MAX_RANK`](Self::MAX_RANK); or if the number of elements overflows.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        let op = "broadcast_to";
        let mut layout = Self::contiguous(op, shape)?;
        let new_axes = shape.len().checked_sub(self.rank);
        let fits = |new_axes: &usize| {
            let pairs = self.shape().iter().zip(&shape[*new_axes..]);
            pairs.into_iter().all(|(from, to)| from == to || *from == 1)
        };
        if new_axes.is_none() {
            let rule = "the new shape must have at least as many axes as the tensor";
            return Err(Error::shapes(op, rule, self.shape(), shape));
        }
        let Some(new_axes) = new_axes.filter(fits) else {
            let rule = "each axis must have the new extent or 1, counted from the last axis";
            return Err(Error::shapes(op, rule, self.shape(), shape));
        };
        for (axis, &extent) in shape.iter().enumerate() {
            let from = axis.checked_sub(new_axes).filter(|&from| self.shape[from] == extent);
            layout.strides[axis] = from.map_or(0, |from| self.strides[from]);
        }
        layout.offset = self.offset;
        Ok(layout)
    }

    /// Gives the same elements, in the same order, another shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of elements differs, or the elements are not contiguous in row-major order.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        let op = "reshape";
        if element_count(op, shape)? != self.len() {
            return Err(Error::shapes(op, "the number of elements must stay the same", self.shape(), shape));
        }
        if !self.is_contiguous() {
            let rule = "the view must be contiguous: call contiguous() first, which copies it";
            return Err(Error::shapes(op, rule, self.shape(), shape));
        }
        Ok(Self { offset: self.offset, ..Self::contiguous(op, shape)? })
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} strides {:?} offset {}", self.shape(), self.strides(), self.offset)
    }
}

fn element_count(op: &'static str, shape: &[usize]) -> Result<usize> {
    if shape.len() > MAX_RANK {
        return Err(Error::shapes(op, "a tensor has at most 6 axes", shape, &[shape.len()]));
    }
    // NOTE: strides are products of the nonzero extents, so these products must not overflow either.
    let count = shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent.max(1)));
    match count {
        // With this limit, the size in bytes, rounded up to a size class, fits in 64 bits.
        Some(count) if count <= usize::MAX >> 5 => Ok(if shape.contains(&0) { 0 } else { count }),
        _ => Err(Error::shapes(op, "the number of elements must not overflow", shape, &[usize::MAX >> 5])),
    }
}
