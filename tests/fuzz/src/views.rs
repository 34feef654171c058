//! Random extents, types and views.

use arbitrary::{Error, Result, Unstructured};
use tilewise::{DType, Layout};

const EXTENTS: [usize; 21] =
    [0, 1, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 65, 100, 257, 1000, 4096, 65_537, 1 << 21];
const TYPES: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

pub(crate) fn extent(u: &mut Unstructured<'_>) -> Result<usize> {
    u.choose(&EXTENTS).copied()
}

pub(crate) fn real(u: &mut Unstructured<'_>) -> Result<DType> {
    u.choose(&TYPES).copied()
}

/// A view of this shape in a large buffer, with or without permuted axes, gaps and an offset.
pub(crate) fn view(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Layout> {
    let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
    if u.ratio(1, 3)? {
        for i in (1..axes.len()).rev() {
            axes.swap(i, u.int_in_range(0..=i)?);
        }
    }
    let mut strides = vec![0; shape.len()];
    let mut stride: usize = if u.ratio(1, 6)? { 2 } else { 1 };
    for axis in axes {
        strides[axis] = stride;
        let gap = if u.ratio(1, 6)? { u.int_in_range(1..=5)? } else { 0 };
        stride = stride.saturating_mul(shape[axis]).saturating_add(gap);
    }
    let offset = if u.ratio(1, 4)? { u.int_in_range(1..=9)? } else { 0 };
    // A view that extends past the buffer gives no problem.
    Layout::new("fuzz", shape, &strides, offset, 1 << 40).map_err(|_| Error::IncorrectFormat)
}

/// Row-major without gaps.
pub(crate) fn dense(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous("fuzz", shape).map_err(|_| Error::IncorrectFormat)
}
