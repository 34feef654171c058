//! How the problem's sizes reach a kernel: the variable `dims`.

//#variant immediate
// The problem's sizes, as immediates (push constants).
var<immediate> dims: Dims;

//#variant ring
// The problem's sizes, for devices without immediates: a window of one ring, with a dynamic offset.
@group(1) @binding(0) var<uniform> dims: Dims;
