//! The problem's sizes, for devices without immediates: a window of one ring, with a dynamic offset.

@group(1) @binding(0) var<uniform> dims: Dims;
