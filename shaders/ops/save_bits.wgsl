//! Stores the bits of four consecutive elements of operand x, each in the lowest bits of its number: `save_bits_x(at, v)`, where
//! `at` counts quads. `save_first_bits_x(at, count, v)` stores the words of the first `count`, one to four, in which the other
//! elements become 0.

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
    let w = select(vec4<u32>(), v, vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(count));
    x[at].x = w.x | (w.y << 16u);
    if count > 2u { x[at].y = w.z | (w.w << 16u); }
}

//#variant bytes
// Stores the bits of four consecutive elements of operand x, of 8 bits.
fn save_bits_x(at: u32, v: vec4<u32>) {
    let w = v << vec4<u32>(0u, 8u, 16u, 24u);
    x[at] = (w.x | w.y) | (w.z | w.w);
}

fn save_first_bits_x(at: u32, count: u32, v: vec4<u32>) {
    save_bits_x(at, select(vec4<u32>(), v, vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(count)));
}
