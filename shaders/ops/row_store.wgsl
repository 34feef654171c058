//! Stores groups of WIDTH = 4 * QUADS elements of a row of C, counted along it: `store_group(start, stride, group, count, v)` stores
//! the first `count` elements of a group, all of them if `count` is larger.

//#variant strided
// Groups of four elements of a row, with any stride.
//#slot store_quad default elements

fn store_group(start: u32, stride: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    store_quad(start + 4u * group * stride, stride, count, v[0]);
}

//#variant vectors
// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector.
//#slot save_quad x=c default plain
//#import save_vector x=c

fn store_group(start: u32, stride: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    save_vector_c((start / WIDTH + group) * QUADS, count, v);
}
