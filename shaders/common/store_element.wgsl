//! Stores one element of C: `store_element(at, value)`, where `at` counts elements.

//#variant plain
// Stores one element of C.
fn store_element(at: u32, value: sum) {
    c[at] = c_unit(value);
}

//#variant packed
// Stores one element of C, of 16 bits in u32 pairs. A pair may hold an element of another row, block or tensor, so a
// half is replaced atomically.
fn store_element(at: u32, value: sum) {
    let half = pack_pair(vec2<f32>(value, 0.0)) & 0xffffu;
    let shift = (at & 1u) * 16u;
    // Nobody else writes this half: clearing it and filling it may be two steps.
    atomicAnd(&c[at / 2u], ~(0xffffu << shift));
    atomicOr(&c[at / 2u], half << shift);
}
