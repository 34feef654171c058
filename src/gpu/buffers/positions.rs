//! The positions of a cache along an axis of its tensors, up to which a cursor counts.

use super::cursor::Cursor;
use crate::layout::{DType, Layout};
use std::ops::Range;
use std::sync::Arc;

/// Elements of a tensor by their positions along an axis. A cursor has the number of filled positions.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    pub(in crate::gpu) cursor: Arc<Cursor>,
    /// All positions.
    pub(in crate::gpu) layout: Layout,
    pub(in crate::gpu) dtype: DType,
    pub(in crate::gpu) axis: usize,
}

impl Positions {
    /// The elements at these positions; all elements if the positions are not a range of the axis.
    pub(in crate::gpu) fn layout_of(&self, range: Range<usize>) -> Layout {
        self.layout.slice(self.axis, range).unwrap_or(self.layout)
    }
}

impl PartialEq for Positions {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cursor, &other.cursor)
            && (self.layout, self.dtype, self.axis) == (other.layout, other.dtype, other.axis)
    }
}
