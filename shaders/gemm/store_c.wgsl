//! Stores four consecutive elements of a row of C: `store_c(row, col, sums)`.

//#variant elements
// Stores four consecutive elements of a row of C, one at a time: any n, any stride.
//#slot save x=c default element

fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row >= dims.m || col >= dims.n {
        return;
    }
    let at = matrices.c_offset + row * dims.ldc + col;
    let v = epilogue(row, col, sums);
    save_c(at, v.x);
    if col + 1u < dims.n { save_c(at + 1u, v.y); }
    if col + 2u < dims.n { save_c(at + 2u, v.z); }
    if col + 3u < dims.n { save_c(at + 3u, v.w); }
}

//#variant vector
// Stores four consecutive elements of a row of C at once; n, the strides and the offset are multiples of four.
fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row < dims.m && col < dims.n {
        c[(matrices.c_offset + row * dims.ldc + col) / 4u] = c_unit(epilogue(row, col, sums));
    }
}

//#variant vector_bytes
// Stores four consecutive elements of a row of C at once, whole numbers of i8 in one u32; n, the strides and the offset are
// multiples of four.
fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row < dims.m && col < dims.n {
        let bytes = (vec4<u32>(vec4<i32>(epilogue(row, col, sums))) & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
        c[(matrices.c_offset + row * dims.ldc + col) / 4u] = (bytes.x | bytes.y) | (bytes.z | bytes.w);
    }
}

//#variant vector_packed
// Stores four consecutive elements of a row of C at once, of 16 bits in u32 pairs; n, the strides and the offset are
// multiples of four.
fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row < dims.m && col < dims.n {
        let v = epilogue(row, col, sums);
        c[(matrices.c_offset + row * dims.ldc + col) / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
    }
}
