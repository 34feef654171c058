//! Stores four consecutive f16 elements of a row of C at once where shaders know no f16: memory is u32 pairs;
//! n, the stride and the offset are multiples of four.

fn store_c(row: u32, col: u32, v: vec4<f32>) {
    if row < dims.m && col < dims.n {
        c[(dims.c_offset + row * dims.ldc + col) / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
    }
}
