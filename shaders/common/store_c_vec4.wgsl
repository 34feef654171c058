//! Stores four consecutive elements of a row of C at once; n, the strides and the offset are multiples of four.

fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row < dims.m && col < dims.n {
        c[(matrices.c_offset + row * dims.ldc + col) / 4u] = c_unit(epilogue(row, col, sums));
    }
}
