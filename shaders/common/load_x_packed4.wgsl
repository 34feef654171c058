//! Four consecutive f16 elements of operand x, widened, where shaders know no f16; `at` is a multiple of four.

fn load_x(at: u32) -> vec4<f32> {
    let quad = x[at / 4u];
    return vec4<f32>(unpack2x16float(quad.x), unpack2x16float(quad.y));
}
