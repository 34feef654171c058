//! Stores four consecutive elements of operand x, rounded to its type: `save_quad_x(at, v)`, where `at` counts quads. At the end
//! of a row, `save_first_x(at, count, v)` stores the first `count`, one to four, and preserves the others. `Kernel::quads`
//! chooses the variant. Elements have the type `sum` before they are stored.

//#variant plain
// Stores four consecutive elements of operand x: memory of f32, f16 or i32.
fn save_quad_x(at: u32, v: vec4<sum>) {
    x[at] = x_unit(v);
}

fn save_first_x(at: u32, count: u32, v: vec4<sum>) {
    let quad = x_unit(v);
    x[at].x = quad.x;
    if count > 1u { x[at].y = quad.y; }
    if count > 2u { x[at].z = quad.z; }
    if count > 3u { x[at].w = quad.w; }
}

//#variant packed
// Stores four consecutive elements of operand x, of 16 bits: memory is u32, two elements each.
fn save_quad_x(at: u32, v: vec4<sum>) {
    x[at] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
}

fn save_first_x(at: u32, count: u32, v: vec4<sum>) {
    var quad = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
    // An odd count ends a row. No other invocation writes to its last word.
    if count == 1u { quad.x = (quad.x & 0xffffu) | (x[at].x & 0xffff0000u); }
    if count == 3u { quad.y = (quad.y & 0xffffu) | (x[at].y & 0xffff0000u); }
    x[at].x = quad.x;
    if count > 2u { x[at].y = quad.y; }
}

//#variant rounded
// Stores four consecutive elements of operand x that are already rounded to f16: memory is u32, two elements each. Packing
// does not round them, so the result is the same on every device.
fn save_quad_x(at: u32, v: vec4<sum>) {
    x[at] = vec2<u32>(pack2x16float(v.xy), pack2x16float(v.zw));
}

//#variant bytes
// Stores four consecutive elements of operand x, of 8 bits: memory is u32, four elements each. Integers wrap.
fn save_quad_x(at: u32, v: vec4<sum>) {
    let w = (vec4<u32>(v) & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
    x[at] = (w.x | w.y) | (w.z | w.w);
}

fn save_first_x(at: u32, count: u32, v: vec4<sum>) {
    let w = (vec4<u32>(v) & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
    // No other invocation writes to a row's last word.
    let own = 0xffffffffu >> (32u - 8u * min(count, 4u));
    x[at] = (((w.x | w.y) | (w.z | w.w)) & own) | (x[at] & ~own);
}
