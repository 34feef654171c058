//! Two consecutive elements of operand x, widened; `at` is even.

fn load_x(at: u32) -> vec2<f32> {
    return vec2<f32>(x[at / 2u]);
}
