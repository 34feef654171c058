//! Elements of operand x at four places side by side, the first a multiple of four.

fn four_x(at: vec4<u32>) -> vec4<f32> {
    return load_x(at.x);
}
