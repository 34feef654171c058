//! Stores the bits of four consecutive elements of operand x, each in the lowest bits of its number: `save_bits_x(at, v)`, where
//! `at` counts quads. `save_first_bits_x(at, count, v)` stores the first `count`, all if it is larger, and preserves the others:
//! no other invocation writes to their words.

//#variant words
// Stores the bits of four consecutive elements of operand x, of 32 bits.
fn save_bits_x(at: u32, v: vec4<u32>) {
    x[at] = v;
}

fn save_first_bits_x(at: u32, count: u32, v: vec4<u32>) {
    x[at].x = v.x;
    if count > 1u { x[at].y = v.y; }
    if count > 2u { x[at].z = v.z; }
    if count > 3u { x[at].w = v.w; }
}

//#variant halves
// Stores the bits of four consecutive elements of operand x, of 16 bits.
fn save_bits_x(at: u32, v: vec4<u32>) {
    x[at] = v.xz | (v.yw << vec2<u32>(16u));
}

fn save_first_bits_x(at: u32, count: u32, v: vec4<u32>) {
    var second = v.y << 16u;
    if count == 1u { second = x[at].x & 0xffff0000u; }
    x[at].x = v.x | second;
    if count > 2u {
        var fourth = v.w << 16u;
        if count == 3u { fourth = x[at].y & 0xffff0000u; }
        x[at].y = v.z | fourth;
    }
}

//#variant bytes
// Stores the bits of four consecutive elements of operand x, of 8 bits.
fn save_bits_x(at: u32, v: vec4<u32>) {
    let w = v << vec4<u32>(0u, 8u, 16u, 24u);
    x[at] = (w.x | w.y) | (w.z | w.w);
}

fn save_first_bits_x(at: u32, count: u32, v: vec4<u32>) {
    let w = select(vec4<u32>(), v, vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(count)) << vec4<u32>(0u, 8u, 16u, 24u);
    var word = (w.x | w.y) | (w.z | w.w);
    if count < 4u { word |= x[at] & ~(0xffffffffu >> (32u - 8u * count)); }
    x[at] = word;
}
