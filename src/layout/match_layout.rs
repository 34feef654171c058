//! Comparison of layouts: whether a plan for one layout can run on another.

use super::element::DType;
use super::strided::Layout;

impl Layout {
    /// Whether a plan for an operand with layout `self`, relative to its aligned window, can run on `operand`: both
    /// have the same elements in the same order, though `self` may merge several axes of `operand` into one.
    pub(crate) fn accepts(&self, operand: &Self, dtype: DType) -> bool {
        if self.is_empty() || operand.is_empty() {
            return self.is_empty() && operand.is_empty();
        }
        let mut theirs = operand.steps();
        let mut accepted = self.offset() == operand.offset_in_window(dtype) as usize;
        for (extent, stride) in self.steps() {
            let mut together = 1;
            while accepted && together < extent {
                match theirs.next() {
                    Some((more, step)) if step == stride * together => together *= more,
                    _ => accepted = false,
                }
            }
            accepted &= together == extent;
        }
        accepted && theirs.next().is_none()
    }

    /// Whether both have the same elements in the same order, relative to their aligned windows. Their axes may differ.
    pub(crate) fn has_same_elements(&self, other: &Self, dtype: DType) -> bool {
        let is_empty = self.is_empty() || other.is_empty();
        let begin = self.offset_in_window(dtype) == other.offset_in_window(dtype);
        if is_empty { self.is_empty() && other.is_empty() } else { begin && self.merged().eq(other.merged()) }
    }

    /// Whether both have the same strides and begin at the same offset of their aligned windows. The strides of axes of
    /// extent 1 do not matter. The shapes are equal.
    pub(crate) fn has_same_strides(&self, other: &Self, dtype: DType) -> bool {
        let begin = self.offset_in_window(dtype) == other.offset_in_window(dtype);
        let axes = self.shape().iter().zip(self.strides().iter().zip(other.strides()));
        let mut steps = axes.filter(|&(&extent, _)| extent > 1).map(|(_, strides)| strides);
        self.is_empty() || (begin && steps.all(|(ours, theirs)| ours == theirs))
    }

    /// Whether all elements of `part` are known to be elements of this layout, because its strides match strides of
    /// this layout. A part with an axis that steps along two axes of this layout at once is not recognised.
    pub(crate) fn contains(&self, part: &Self) -> bool {
        if part.is_empty() {
            return true;
        }
        let mut axes: Vec<(usize, usize)> = self.merged().collect();
        axes.sort_unstable_by_key(|&(_, stride)| std::cmp::Reverse(stride));
        let Some(mut rest) = part.offset().checked_sub(self.offset()) else { return false };
        // The largest indices of the part along the axes of this layout.
        let mut last: Vec<usize> = Vec::with_capacity(axes.len());
        for &(extent, stride) in &axes {
            let at = (rest / stride).min(extent - 1);
            rest -= at * stride;
            last.push(at);
        }
        for (extent, step) in part.steps() {
            let Some(axis) = axes.iter().position(|&(_, stride)| step.is_multiple_of(stride)) else {
                return false;
            };
            last[axis] = last[axis].saturating_add((extent - 1).saturating_mul(step / axes[axis].1));
        }
        !self.is_empty() && rest == 0 && last.iter().zip(&axes).all(|(&last, &(extent, _))| last < extent)
    }

    /// As [`steps`](Self::steps), with axes merged if one stride covers both.
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

    /// Extents and strides of the axes with more than one index and a stride above 0, the last axis first.
    fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        let axes = self.shape().iter().copied().zip(self.strides().iter().copied()).rev();
        axes.filter(|&(extent, stride)| extent > 1 && stride > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{DType, Layout};

    fn layout(shape: &[usize], strides: &[usize], offset: usize) -> Layout {
        Layout::new("test", shape, strides, offset, 1 << 20).unwrap()
    }

    #[test]
    fn an_operand_is_admitted_where_its_elements_come_in_the_same_order() {
        let square = layout(&[4, 4], &[4, 1], 0);
        assert!(square.accepts(&square, DType::F32));
        assert!(square.accepts(&layout(&[1, 4, 1, 4], &[7, 4, 9, 1], 64), DType::F32), "a window further on");
        assert!(!square.accepts(&square.t(), DType::F32), "transposed");
        assert!(!square.accepts(&layout(&[4, 4], &[4, 1], 1), DType::F32), "another place in its window");
        assert!(!square.accepts(&layout(&[2, 8], &[8, 1], 0), DType::F32), "another shape");
        assert!(!square.accepts(&layout(&[5, 4], &[4, 1], 0), DType::F32), "more");
        let merged = layout(&[6], &[1], 0);
        assert!(merged.accepts(&layout(&[2, 3], &[3, 1], 0), DType::F32), "axes that step as one");
        assert!(!merged.accepts(&layout(&[2, 3], &[4, 1], 0), DType::F32), "with a gap");
        let repeated = layout(&[4, 3], &[0, 1], 0);
        assert!(
            repeated.accepts(&layout(&[3], &[1], 0), DType::F32) && repeated.accepts(&repeated, DType::F32)
        );
        for (other, is_same) in [
            (layout(&[16], &[1], 64), true),
            (layout(&[2, 1, 8], &[8, 3, 1], 0), true),
            (layout(&[4, 4], &[4, 1], 1), false),
            (layout(&[4, 4], &[5, 1], 0), false),
            (square.t(), false),
            (layout(&[2, 4], &[4, 1], 0), false),
        ] {
            assert_eq!(square.has_same_elements(&other, DType::F32), is_same, "{other:?}");
        }
        let empty = layout(&[0, 3], &[3, 1], 0);
        assert!(empty.accepts(&layout(&[0], &[1], 5), DType::F32) && !empty.accepts(&merged, DType::F32));
    }
}
