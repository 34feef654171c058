//! The sizes of the problem, in the variable `dims`. Its struct has the members that the host's `shader_dims!` lists, and so
//! `Axes` if a member is of this type: `axis0` is the innermost axis, and `axis_at(axis)` one by its number. An axis has four
//! numbers: its extent, then strides.

//#dims

//#variant immediate
// In immediates (push constants).
var<immediate> dims: Dims;

//#variant ring
// For devices without immediates: a window of a ring of uniforms, with a dynamic offset.
@group(1) @binding(0) var<uniform> dims: Dims;
