//! Staging memory as elements that can be written and not read.

use crate::layout::Element;
use std::marker::PhantomData;

/// Staging memory that a closure fills with elements: see [`Tensor::write_from`](crate::Tensor::write_from).
///
/// It can be written and not read, because mapped memory may be slow to read or may not contain anything yet. Elements
/// that are not written have unspecified values.
pub struct ElementWriter<'a, T> {
    bytes: wgpu::WriteOnly<'a, [u8]>,
    elements: PhantomData<T>,
}

impl<'a, T: Element> ElementWriter<'a, T> {
    pub(in crate::gpu) fn new(bytes: wgpu::WriteOnly<'a, [u8]>) -> Self {
        Self { bytes, elements: PhantomData }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / size_of::<T>()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes these elements from element `start` on.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn write(&mut self, start: usize, elements: &[T]) {
        let len = self.len();
        let fits = start.checked_add(elements.len()).is_some_and(|end| end <= len);
        assert!(fits, "{} elements from {start} on do not fit in {len}", elements.len());
        let size = size_of::<T>();
        let part = start * size..(start + elements.len()) * size;
        self.bytes.slice(part).copy_from_slice(bytemuck::cast_slice(elements));
    }

    /// Writes one element after the other, at most as many as there are. Returns how many.
    pub fn write_iter(&mut self, elements: impl IntoIterator<Item = T>) -> usize {
        let (mut written, len) = (0, self.len());
        for (at, element) in elements.into_iter().take(len).enumerate() {
            let start = at * size_of::<T>();
            self.bytes.slice(start..start + size_of::<T>()).copy_from_slice(bytemuck::bytes_of(&element));
            written = at + 1;
        }
        written
    }

    /// Writes the same value to all elements.
    pub fn fill(&mut self, value: T) {
        self.write_iter(std::iter::repeat(value));
    }
}

impl<T: Element> std::fmt::Debug for ElementWriter<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ElementWriter({} elements of {})", self.len(), T::DTYPE)
    }
}
