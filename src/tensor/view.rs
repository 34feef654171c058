//! A tensor as kernels see it: where its elements lie, their type as a value.

use super::{DType, Element, Layout, Tensor};
use crate::gpu::{Allocation, Binding, Gpu};
use crate::{Error, Result};
use std::fmt;
use std::ops::Range;

/// A borrowed tensor as plans take it, without its element type: [`Tensor::view`] of what they read, [`Tensor::view_mut`] of
/// what they write.
#[derive(Clone, Copy)]
pub struct View<'a> {
    allocation: &'a Allocation,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
    /// Where the operation writes every element of the storage and reads none of it: the sequence at which it begins.
    overwritten_from: Option<u64>,
    holder: Holder,
}

/// Who else may see the buffer of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Anybody.
    Shared,
    /// Nobody: it may be written.
    Exclusive,
}

impl<'a> View<'a> {
    /// These bytes of a buffer that is no tensor's, as whole words.
    pub(crate) fn of_words(allocation: &'a Allocation, bytes: Range<usize>) -> Result<Self> {
        let layout = Layout::contiguous("words", &[bytes.len() / 4])?.at(&[1], bytes.start / 4);
        let dtype = DType::I32;
        Ok(Self { allocation, layout, dtype, overwritten_from: None, holder: Holder::Shared })
    }

    pub(crate) fn gpu(&self) -> &'a Gpu {
        self.allocation.gpu()
    }

    pub(crate) fn shares_buffer(&self, other: &View<'_>) -> bool {
        std::ptr::eq(self.allocation, other.allocation)
    }

    /// The same view, as an output of which an operation writes every element and reads none, if that is so, and where that
    /// operation begins.
    pub(super) fn overwritten_from(self, begun: Option<u64>) -> Self {
        Self { overwritten_from: begun, ..self }
    }

    /// The same buffer, of which this layout has been proved to lie within the elements of this view.
    pub(crate) fn seen_as(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// Whether nobody else sees the buffer.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.holder == Holder::Exclusive
    }

    /// The same view, as an output of which an operation writes every element and reads none; that begins now. What of it
    /// has failed to be written before no longer matters if it is all of its storage.
    pub(crate) fn overwritten_if_whole(&self) -> Self {
        let is_whole =
            self.layout.is_contiguous() && self.layout.bytes(self.dtype) == (0..self.allocation.len());
        Self { overwritten_from: is_whole.then(|| self.allocation.begin_write()), ..*self }
    }

    /// Marks the contents as never computed because of `error`, if a launch that was recorded since then writes to them.
    pub(crate) fn fail_if_written_since(&self, begun: u64, error: &Error) {
        if self.allocation.is_written_since(begun) {
            self.allocation.fail(error);
        }
    }

    /// What a kernel binds: the window that holds the elements.
    pub(crate) fn bind(&self) -> Binding<'a> {
        let binding = Binding::new(self.allocation, self.layout.bytes(self.dtype));
        match self.overwritten_from {
            Some(begun) => binding.overwritten_from(begun),
            None => binding,
        }
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.dtype, self.layout)
    }
}

impl<T: Element> Tensor<T> {
    /// The tensor as an operand that a plan reads ([`Gpu::execute`]).
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.as_view()
    }

    /// The tensor as an operand that a plan writes ([`Gpu::execute`]).
    ///
    /// # Errors
    /// [`Error::Input`] if its buffer is any other tensor's: a clone's or a view's.
    pub fn view_mut(&mut self) -> Result<View<'_>> {
        self.check_unshared("view_mut")?;
        Ok(View { holder: Holder::Exclusive, ..self.as_view() })
    }

    pub(crate) fn as_view(&self) -> View<'_> {
        let (allocation, layout, dtype) = (&*self.storage, self.layout, T::DTYPE);
        View { allocation, layout, dtype, overwritten_from: None, holder: Holder::Shared }
    }
}

impl Layout {
    /// The bytes of the buffer that the elements span.
    pub(crate) fn bytes(&self, dtype: DType) -> Range<u64> {
        if self.is_empty() {
            return 0..0;
        }
        let size = dtype.size() as u64;
        self.span().start as u64 * size..self.span().end as u64 * size
    }

    /// The same layout, counted from the start of its aligned window, and without steps along axes of one index: two operands
    /// whose layouts are the same then take the same plan.
    pub(crate) fn in_window(&self, dtype: DType) -> Self {
        let strides = self.shape().iter().zip(self.strides());
        let strides: Vec<usize> = strides.map(|(&n, &stride)| if n > 1 { stride } else { 0 }).collect();
        self.at(&strides, self.offset_in_window(dtype) as usize)
    }

    /// Whether an operand of this layout and type may take the place of one that lies as `self` says, counted from the start of
    /// its aligned window: the same elements in the same order, whose axes `self` may have as fewer.
    pub(crate) fn admits(&self, operand: &Self, dtype: DType) -> bool {
        if self.is_empty() || operand.is_empty() {
            return self.is_empty() && operand.is_empty();
        }
        let mut theirs = operand.steps();
        let mut admitted = self.offset() == operand.offset_in_window(dtype) as usize;
        for (extent, stride) in self.steps() {
            let mut together = 1;
            while admitted && together < extent {
                match theirs.next() {
                    Some((more, step)) if step == stride * together => together *= more,
                    _ => admitted = false,
                }
            }
            admitted &= together == extent;
        }
        admitted && theirs.next().is_none()
    }

    /// Whether both have the same elements in the same order, counted from the start of their aligned windows, whatever their
    /// axes are.
    pub(crate) fn lies_as(&self, other: &Self, dtype: DType) -> bool {
        let is_empty = self.is_empty() || other.is_empty();
        let begin = self.offset_in_window(dtype) == other.offset_in_window(dtype);
        if is_empty { self.is_empty() && other.is_empty() } else { begin && self.merged().eq(other.merged()) }
    }

    /// As [`steps`](Self::steps), with axes that step as one joined.
    fn merged(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut steps = self.steps().peekable();
        std::iter::from_fn(move || {
            let (mut extent, stride) = steps.next()?;
            while let Some((more, _)) = steps.next_if(|&(_, step)| step == stride.saturating_mul(extent)) {
                extent *= more;
            }
            Some((extent, stride))
        })
    }

    /// Extents and strides of the axes along which there are steps, the last axis first.
    fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        let axes = self.shape().iter().copied().zip(self.strides().iter().copied()).rev();
        axes.filter(|&(extent, stride)| extent > 1 && stride > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[usize], strides: &[usize], offset: usize) -> Layout {
        Layout::new("test", shape, strides, offset, 1 << 20).unwrap()
    }

    #[test]
    fn an_operand_is_admitted_where_its_elements_come_in_the_same_order() {
        let square = layout(&[4, 4], &[4, 1], 0);
        assert!(square.admits(&square, DType::F32));
        assert!(square.admits(&layout(&[1, 4, 1, 4], &[7, 4, 9, 1], 64), DType::F32), "a window further on");
        assert!(!square.admits(&square.t(), DType::F32), "transposed");
        assert!(!square.admits(&layout(&[4, 4], &[4, 1], 1), DType::F32), "another place in its window");
        assert!(!square.admits(&layout(&[2, 8], &[8, 1], 0), DType::F32), "another shape");
        assert!(!square.admits(&layout(&[5, 4], &[4, 1], 0), DType::F32), "more");
        let merged = layout(&[6], &[1], 0);
        assert!(merged.admits(&layout(&[2, 3], &[3, 1], 0), DType::F32), "axes that step as one");
        assert!(!merged.admits(&layout(&[2, 3], &[4, 1], 0), DType::F32), "with a gap");
        let repeated = layout(&[4, 3], &[0, 1], 0);
        assert!(
            repeated.admits(&layout(&[3], &[1], 0), DType::F32) && repeated.admits(&repeated, DType::F32)
        );
        for (other, is_same) in [
            (layout(&[16], &[1], 64), true),
            (layout(&[2, 1, 8], &[8, 3, 1], 0), true),
            (layout(&[4, 4], &[4, 1], 1), false),
            (layout(&[4, 4], &[5, 1], 0), false),
            (square.t(), false),
            (layout(&[2, 4], &[4, 1], 0), false),
        ] {
            assert_eq!(square.lies_as(&other, DType::F32), is_same, "{other:?}");
        }
        let empty = layout(&[0, 3], &[3, 1], 0);
        assert!(empty.admits(&layout(&[0], &[1], 5), DType::F32) && !empty.admits(&merged, DType::F32));
    }
}
