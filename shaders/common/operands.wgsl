//! Two operands, combined.

@group(0) @binding(1) var<storage, read> a: array<a_unit>;
@group(0) @binding(2) var<storage, read> b: array<a_unit>;

//#import load_x x=a
//#import load_x x=b
//#import load_quad_x x=a
//#import load_quad_x x=b

fn value(at: vec3<u32>, count: u32) -> vec4<f32> {
    return combine(load_quad_a(at.y, dims.axes[0].z, count), load_quad_b(at.z, dims.axes[0].w, count));
}
