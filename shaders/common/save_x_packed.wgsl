//! Stores one element of operand x, of 16 bits in u32 pairs. A pair may hold an element of another row or tensor, so a half
//! is replaced atomically.

fn save_x(at: u32, v: f32) {
    let half = pack_pair(vec2<f32>(v, 0.0)) & 0xffffu;
    let shift = (at & 1u) * 16u;
    // Nobody else writes this half: clearing it and filling it may be two steps.
    atomicAnd(&x[at / 2u], ~(0xffffu << shift));
    atomicOr(&x[at / 2u], half << shift);
}
