//! Tensors as kernels see them.

pub(super) mod binding;
pub(super) mod view;
