//! Two consecutive bf16 elements of operand x, widened: memory is u32 pairs; `at` is even.

fn load_x(at: u32) -> vec2<f32> {
    let pair = x[at / 2u];
    return bitcast<vec2<f32>>(vec2<u32>(pair << 16u, pair & 0xffff0000u));
}
