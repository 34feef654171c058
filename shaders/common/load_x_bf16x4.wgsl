//! Four consecutive bf16 elements of operand x, widened: memory is u32 pairs; `at` is a multiple of four.

fn load_x(at: u32) -> vec4<f32> {
    let quad = x[at / 4u];
    return bitcast<vec4<f32>>(vec4<u32>(quad.x << 16u, quad.x & 0xffff0000u, quad.y << 16u, quad.y & 0xffff0000u));
}
