//! The variable `dims`, which holds the sizes of the problem.

//#variant immediate
// In immediates (push constants).
var<immediate> dims: Dims;

//#variant ring
// For devices without immediates: a window of a ring of uniforms, with a dynamic offset.
@group(1) @binding(0) var<uniform> dims: Dims;
