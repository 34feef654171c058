//! Stores four consecutive elements of a row of C at once, of 16 bits in u32 pairs; n, the strides and the offset are
//! multiples of four.

fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row < dims.m && col < dims.n {
        let v = epilogue(row, col, sums);
        c[(matrices.c_offset + row * dims.ldc + col) / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
    }
}
