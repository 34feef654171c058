//! Stores four consecutive elements of a row of C, one by one: any n, any stride; f32 or f16 memory.

fn store_c(row: u32, col: u32, v: vec4<f32>) {
    if row >= dims.m {
        return;
    }
    let at = dims.c_offset + row * dims.ldc + col;
    if col < dims.n { c[at] = c_unit(v.x); }
    if col + 1u < dims.n { c[at + 1u] = c_unit(v.y); }
    if col + 2u < dims.n { c[at + 2u] = c_unit(v.z); }
    if col + 3u < dims.n { c[at + 3u] = c_unit(v.w); }
}
