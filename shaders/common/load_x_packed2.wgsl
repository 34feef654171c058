//! Two consecutive f16 elements of operand x, widened, where shaders know no f16; `at` is even.

fn load_x(at: u32) -> vec2<f32> {
    return unpack2x16float(x[at / 2u]);
}
