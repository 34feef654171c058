//! The operands of an elementwise function, and its result: `value(at)` for four neighbours along the innermost axis. `at` has
//! the indices of the quads in C, A and B.

//#variant two
// Two operands, combined.
//#param  set by ElementwiseProblem::kernel
alias b_unit = vec4<f32>;
//#end
@group(0) @binding(1) var<storage, read> a: array<a_unit>;
@group(0) @binding(2) var<storage, read> b: array<b_unit>;

//#slot aligned_quad x=a default plain
//#slot aligned_quad x=b default plain

fn value(at: vec3<u32>) -> vec4<f32> {
    return combined(quad_a(at.y), quad_b(at.z));
}

//#variant one
// The activation of one operand.
@group(0) @binding(1) var<storage, read> a: array<a_unit>;

//#slot aligned_quad x=a default plain

fn value(at: vec3<u32>) -> vec4<f32> {
    return activate(quad_a(at.y));
}

//#variant update
// C, combined with one operand.
@group(0) @binding(1) var<storage, read> a: array<a_unit>;

//#slot aligned_quad x=a default plain
//#slot aligned_quad x=c default plain

fn value(at: vec3<u32>) -> vec4<f32> {
    return combined(quad_c(at.x), quad_a(at.y));
}
