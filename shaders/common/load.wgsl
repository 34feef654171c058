//! Elements of operand x, widened to f32, or i8 to i32: `load_x(at)`, where `at` counts elements. A variant loads one element, or
//! two or four consecutive ones from a multiple of their number. `Kernel::operand` chooses the variant.

//#variant element
// One element of operand x, widened: f32 or f16 memory.
fn load_x(at: u32) -> f32 {
    return f32(x[at]);
}

//#variant integer
// One element of operand x, an integer of 32 bits.
fn load_x(at: u32) -> i32 {
    return x[at];
}

//#variant element_i8
// One i8 element of operand x, widened to i32: memory is u32, four elements each.
fn load_x(at: u32) -> i32 {
    return extractBits(bitcast<i32>(x[at / 4u]), (at & 3u) * 8u, 8u);
}

//#variant element_packed
// One f16 element of operand x, widened, on devices without f16 in shaders: memory is u32, two elements each.
fn load_x(at: u32) -> f32 {
    let pair = unpack2x16float(x[at / 2u]);
    return select(pair.x, pair.y, (at & 1u) == 1u);
}

//#variant element_bf16
// One bf16 element of operand x, widened: memory is u32, two elements each. A bf16 is the upper half of an f32.
fn load_x(at: u32) -> f32 {
    return bitcast<f32>((x[at / 2u] >> ((at & 1u) * 16u)) << 16u);
}

//#variant element_e4m3
// One e4m3 element of operand x, widened: memory is u32, four elements each.
//#import fp8_values
fn load_x(at: u32) -> f32 {
    return e4m3_value((x[at / 4u] >> ((at & 3u) * 8u)) & 0xffu);
}

//#variant element_e5m2
// One e5m2 element of operand x, widened: memory is u32, four elements each.
//#import fp8_values
fn load_x(at: u32) -> f32 {
    return e5m2_value((x[at / 4u] >> ((at & 3u) * 8u)) & 0xffu);
}

//#variant atomic_packed
// One f16 element of operand x, widened, on devices without f16 in shaders, if x is also stored atomically.
fn load_x(at: u32) -> f32 {
    let pair = unpack2x16float(atomicLoad(&x[at / 2u]));
    return select(pair.x, pair.y, (at & 1u) == 1u);
}

//#variant atomic_bf16
// One bf16 element of operand x, widened, if x is also stored atomically.
fn load_x(at: u32) -> f32 {
    return bitcast<f32>((atomicLoad(&x[at / 2u]) >> ((at & 1u) * 16u)) << 16u);
}

//#variant atomic_i8
// One i8 element of operand x, widened to i32, if x is also stored atomically.
fn load_x(at: u32) -> i32 {
    return extractBits(bitcast<i32>(atomicLoad(&x[at / 4u])), (at & 3u) * 8u, 8u);
}

//#variant two
// Two consecutive elements of operand x, widened; `at` is even.
fn load_x(at: u32) -> vec2<f32> {
    return vec2<f32>(x[at / 2u]);
}

//#variant two_packed
// Two consecutive f16 elements of operand x, widened, on devices without f16 in shaders; `at` is even.
fn load_x(at: u32) -> vec2<f32> {
    return unpack2x16float(x[at / 2u]);
}

//#variant two_bf16
// Two consecutive bf16 elements of operand x, widened: memory is u32, two elements each; `at` is even.
fn load_x(at: u32) -> vec2<f32> {
    let pair = x[at / 2u];
    return bitcast<vec2<f32>>(vec2<u32>(pair << 16u, pair & 0xffff0000u));
}

//#variant four
// Four consecutive elements of operand x, widened; `at` is a multiple of four.
fn load_x(at: u32) -> vec4<f32> {
    return vec4<f32>(x[at / 4u]);
}

//#variant four_packed
// Four consecutive f16 elements of operand x, widened, on devices without f16 in shaders; `at` is a multiple of four.
fn load_x(at: u32) -> vec4<f32> {
    let quad = x[at / 4u];
    return vec4<f32>(unpack2x16float(quad.x), unpack2x16float(quad.y));
}

//#variant four_bf16
// Four consecutive bf16 elements of operand x, widened: memory is u32, two elements each; `at` is a multiple of four.
fn load_x(at: u32) -> vec4<f32> {
    let quad = x[at / 4u];
    return bitcast<vec4<f32>>(vec4<u32>(quad.x << 16u, quad.x & 0xffff0000u, quad.y << 16u, quad.y & 0xffff0000u));
}

//#variant four_e4m3
// Four consecutive e4m3 elements of operand x, widened: memory is u32, four elements each; `at` is a multiple of four.
//#import fp8_values
fn load_x(at: u32) -> vec4<f32> {
    let quad = x[at / 4u];
    return vec4<f32>(
        e4m3_value(quad & 0xffu),
        e4m3_value((quad >> 8u) & 0xffu),
        e4m3_value((quad >> 16u) & 0xffu),
        e4m3_value(quad >> 24u),
    );
}

//#variant four_e5m2
// Four consecutive e5m2 elements of operand x, widened: memory is u32, four elements each; `at` is a multiple of four.
//#import fp8_values
fn load_x(at: u32) -> vec4<f32> {
    let quad = x[at / 4u];
    return vec4<f32>(
        e5m2_value(quad & 0xffu),
        e5m2_value((quad >> 8u) & 0xffu),
        e5m2_value((quad >> 16u) & 0xffu),
        e5m2_value(quad >> 24u),
    );
}
