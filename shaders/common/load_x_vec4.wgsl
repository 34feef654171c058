//! Four consecutive elements of operand x, widened; `at` is a multiple of four.

fn load_x(at: u32) -> vec4<f32> {
    return vec4<f32>(x[at / 4u]);
}
