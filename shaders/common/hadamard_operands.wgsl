//! A pass from one tensor to another.

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;

//#import load_x x=a
