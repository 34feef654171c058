//! The operands of an elementwise function, and its result: `value(at, count)` for the first `count` of four neighbours
//! along the innermost axis. `at` has the indices of the first one in C, A and B. Components after `count` are
//! undefined.

//#variant two
// Two operands, combined.
//#param  set by ElementwiseProblem::kernel
alias b_unit = f32;
//#end
@group(0) @binding(1) var<storage, read> a: array<a_unit>;
@group(0) @binding(2) var<storage, read> b: array<b_unit>;

//#slot load x=a default element
//#slot load x=b default element
//#import load_quad x=a
//#import load_quad x=b

fn value(at: vec3<u32>, count: u32) -> vec4<f32> {
    return combined(load_quad_a(at.y, dims.axes[0].z, count), load_quad_b(at.z, dims.axes[0].w, count));
}

//#variant one
// The activation of one operand.
@group(0) @binding(1) var<storage, read> a: array<a_unit>;

//#slot load x=a default element
//#import load_quad x=a

fn value(at: vec3<u32>, count: u32) -> vec4<f32> {
    return activate(load_quad_a(at.y, dims.axes[0].z, count));
}

//#variant update
// C, combined with one operand.
@group(0) @binding(1) var<storage, read> a: array<a_unit>;

//#slot load x=a default element
//#slot load x=c default element
//#import load_quad x=a
//#import load_quad x=c

fn value(at: vec3<u32>, count: u32) -> vec4<f32> {
    return combined(load_quad_c(at.x, dims.axes[0].y, count), load_quad_a(at.y, dims.axes[0].z, count));
}
