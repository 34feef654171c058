//! The bits of four consecutive elements of operand x: `quad_bits_x(at)`, each in the lowest bits of its number. `at` counts
//! quads: it is the index of the first element, divided by four.

//#variant words
// The bits of four consecutive elements of operand x, of 32 bits.
fn quad_bits_x(at: u32) -> vec4<u32> {
    return x[at];
}

//#variant halves
// The bits of four consecutive elements of operand x, of 16 bits.
fn quad_bits_x(at: u32) -> vec4<u32> {
    let quad = x[at];
    return vec4<u32>(quad.x & 0xffffu, quad.x >> 16u, quad.y & 0xffffu, quad.y >> 16u);
}

//#variant bytes
// The bits of four consecutive elements of operand x, of 8 bits.
fn quad_bits_x(at: u32) -> vec4<u32> {
    return (vec4<u32>(x[at]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}
