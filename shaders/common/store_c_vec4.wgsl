//! Stores four consecutive elements of a row of C at once; n, the stride and the offset are multiples of four.

fn store_c(row: u32, col: u32, v: vec4<f32>) {
    if row < dims.m && col < dims.n {
        c[(dims.c_offset + row * dims.ldc + col) / 4u] = c_unit(v);
    }
}
