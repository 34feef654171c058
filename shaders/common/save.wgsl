//! Stores elements of operand x, rounded to its type: `save_x(at, value)`, where `at` counts elements. A variant stores one
//! element, of type `sum` before it is rounded, or several consecutive ones from a multiple of their number. `Kernel::operand`
//! and `Kernel::result` choose the variant.

//#variant element
// Stores one element of operand x: memory of f32, f16 or i32.
fn save_x(at: u32, value: sum) {
    x[at] = x_unit(value);
}

//#variant element_packed
// Stores one element of operand x, of 16 bits: memory is u32, two elements each. A word may hold an element of another row or
// tensor, so its half is replaced atomically.
fn save_x(at: u32, value: sum) {
    let half = pack_pair(vec2<f32>(value, 0.0)) & 0xffffu;
    let shift = (at & 1u) * 16u;
    // No other invocation writes this half, so it can be cleared and set by two operations.
    atomicAnd(&x[at / 2u], ~(0xffffu << shift));
    atomicOr(&x[at / 2u], half << shift);
}

//#variant element_bytes
// Stores one element of operand x, of 8 bits: memory is u32, four elements each. A word may hold elements of other rows or
// tensors, so its byte is replaced atomically. Integers wrap.
fn save_x(at: u32, value: sum) {
    let shift = (at & 3u) * 8u;
    // No other invocation writes this byte, so it can be cleared and set by two operations.
    atomicAnd(&x[at / 4u], ~(0xffu << shift));
    atomicOr(&x[at / 4u], (u32(i32(value)) & 0xffu) << shift);
}

//#variant vector
// Stores WIDTH consecutive elements of operand x, an invocation's `lanes`: f32 or f16 memory.
fn save_x(at: u32, value: lanes) {
    x[at / WIDTH] = x_unit(value);
}

//#variant two_packed
// Stores two consecutive elements of operand x, of 16 bits, in one u32; `at` is even.
fn save_x(at: u32, value: vec2<f32>) {
    x[at / 2u] = pack_pair(value);
}

//#variant four_packed
// Stores four consecutive elements of operand x, of 16 bits, in two u32; `at` is a multiple of four.
fn save_x(at: u32, value: vec4<f32>) {
    x[at / 4u] = vec2<u32>(pack_pair(value.xy), pack_pair(value.zw));
}
