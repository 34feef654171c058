//! Layouts of operands that are only planned.

use tilewise::Layout;

/// A contiguous operand.
#[track_caller]
pub fn flat(shape: &[usize]) -> Layout {
    Layout::contiguous("test", shape).expect("no more elements than a layout counts")
}

/// A view of a buffer that is large enough.
#[track_caller]
pub fn view(shape: &[usize], strides: &[usize], offset: usize) -> Layout {
    Layout::new("test", shape, strides, offset, usize::MAX).expect("as many strides as axes")
}
