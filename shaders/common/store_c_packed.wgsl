//! Stores four consecutive f16 elements of a row of C where shaders know no f16: memory is u32 pairs.
//! A pair may hold an element of another row, block or tensor, so a half is replaced atomically.

fn store_half(at: u32, value: f32) {
    let half = pack_pair(vec2<f32>(value, 0.0)) & 0xffffu;
    let shift = (at & 1u) * 16u;
    // Nobody else writes this half: clearing it and filling it may be two steps.
    atomicAnd(&c[at / 2u], ~(0xffffu << shift));
    atomicOr(&c[at / 2u], half << shift);
}

fn store_c(row: u32, col: u32, v: vec4<f32>) {
    if row >= dims.m {
        return;
    }
    let at = dims.c_offset + row * dims.ldc + col;
    if col < dims.n { store_half(at, v.x); }
    if col + 1u < dims.n { store_half(at + 1u, v.y); }
    if col + 2u < dims.n { store_half(at + 2u, v.z); }
    if col + 3u < dims.n { store_half(at + 3u, v.w); }
}
