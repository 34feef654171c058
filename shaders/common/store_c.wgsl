//! Stores four consecutive elements of a row of C, one by one: any n, any stride.

fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row >= dims.m || col >= dims.n {
        return;
    }
    let at = matrices.c_offset + row * dims.ldc + col;
    let v = epilogue(row, col, sums);
    store_element(at, v.x);
    if col + 1u < dims.n { store_element(at + 1u, v.y); }
    if col + 2u < dims.n { store_element(at + 2u, v.z); }
    if col + 3u < dims.n { store_element(at + 3u, v.w); }
}
