//! Four consecutive elements of operand x, widened: `quad_x(at)`, where `at` counts quads: it is the index of the first element,
//! divided by four. Two quads from an even one are 16 bytes of memory if elements have 16 bits. `Kernel::quads` chooses the
//! variant.

//#variant plain
// Four consecutive elements of operand x, widened: f32 or f16 memory.
fn quad_x(at: u32) -> vec4<f32> {
    return vec4<f32>(x[at]);
}

//#variant packed
// Four consecutive f16 elements of operand x, widened, on devices without f16 in shaders: memory is u32, two elements each.
fn quad_x(at: u32) -> vec4<f32> {
    let quad = x[at];
    return vec4<f32>(unpack2x16float(quad.x), unpack2x16float(quad.y));
}

//#variant bf16
// Four consecutive bf16 elements of operand x, widened: memory is u32, two elements each.
fn quad_x(at: u32) -> vec4<f32> {
    let quad = x[at];
    return bitcast<vec4<f32>>(vec4<u32>(quad.x << 16u, quad.x & 0xffff0000u, quad.y << 16u, quad.y & 0xffff0000u));
}

//#variant integers
// Four consecutive elements of operand x, integers of 32 bits.
fn quad_x(at: u32) -> vec4<i32> {
    return x[at];
}

//#variant bytes
// Four consecutive i8 elements of operand x, widened to i32: memory is u32, four elements each.
fn quad_x(at: u32) -> vec4<i32> {
    return bitcast<vec4<i32>>(vec4<u32>(x[at]) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}
