//! Elements of all bit patterns, and where a view has its elements.

use tilewise::{Element, Layout};

/// Elements of all bit patterns.
pub(crate) fn bits<T: Element>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    (0..len).map(|_| bytemuck::pod_read_unaligned(&word().to_ne_bytes()[..size_of::<T>()])).collect()
}

/// The bytes of elements.
pub(crate) fn bytes<T: Element>(elements: &[T]) -> &[u8] {
    bytemuck::cast_slice(elements)
}

/// The places of a view's elements, row-major, by definition.
pub(crate) fn places(layout: &Layout) -> Vec<usize> {
    let at = |mut index: usize| {
        let axes = layout.shape().iter().zip(layout.strides()).rev();
        layout.offset()
            + axes.fold(0, |at, (&extent, &stride)| {
                let step = index % extent * stride;
                index /= extent;
                at + step
            })
    };
    (0..layout.len()).map(at).collect()
}
