//! One f16 element of operand x, widened, on devices whose shaders know no f16: memory is u32 pairs.

fn load_x(at: u32) -> f32 {
    let pair = unpack2x16float(x[at / 2u]);
    return select(pair.x, pair.y, (at & 1u) == 1u);
}
