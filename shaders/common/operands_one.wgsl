//! The values of one operand.

@group(0) @binding(1) var<storage, read> a: array<a_unit>;

//#import load_x x=a
//#import load_quad_x x=a

fn value(at: vec3<u32>, count: u32) -> vec4<f32> {
    return load_quad_a(at.y, dims.axes[0].z, count);
}
