//! One f16 element of operand x, widened, where shaders know no f16 and x is stored to half by half.

fn load_x(at: u32) -> f32 {
    let pair = unpack2x16float(atomicLoad(&x[at / 2u]));
    return select(pair.x, pair.y, (at & 1u) == 1u);
}
