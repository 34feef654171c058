//! Elements of operand x, rounded to what its memory holds: `save_x(at, value)`, where `at` counts elements.
//! One element, a `sum` before it is rounded, or several side by side from a multiple of their number on. `Kernel::operand`
//! and `Kernel::result` choose.

//#variant element
// Stores one element of operand x: f32 or f16 memory.
fn save_x(at: u32, value: sum) {
    x[at] = x_unit(value);
}

//#variant element_packed
// Stores one element of operand x, of 16 bits in u32 pairs. A pair may hold an element of another row or tensor, so a
// half is replaced atomically.
fn save_x(at: u32, value: sum) {
    let half = pack_pair(vec2<f32>(value, 0.0)) & 0xffffu;
    let shift = (at & 1u) * 16u;
    // Nobody else writes this half: clearing it and filling it may be two steps.
    atomicAnd(&x[at / 2u], ~(0xffffu << shift));
    atomicOr(&x[at / 2u], half << shift);
}

//#variant vector
// Stores WIDTH elements of operand x, which are an invocation's `lanes`: f32 or f16 memory.
fn save_x(at: u32, value: lanes) {
    x[at / WIDTH] = x_unit(value);
}

//#variant two_packed
// Stores two elements of operand x side by side from an even one on, of 16 bits in a u32.
fn save_x(at: u32, value: vec2<f32>) {
    x[at / 2u] = pack_pair(value);
}

//#variant four_packed
// Stores four elements of operand x side by side from a multiple of four on, of 16 bits in u32 pairs.
fn save_x(at: u32, value: vec4<f32>) {
    x[at / 4u] = vec2<u32>(pack_pair(value.xy), pack_pair(value.zw));
}
