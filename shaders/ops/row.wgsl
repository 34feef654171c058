//! Groups of WIDTH = 4 * QUADS neighbours of a row, counted along it. `row_quad(start, group, k, length)` returns quad k of a
//! group of a row of A that begins at `start`, and `store_group(start, group, count, v)` stores the first `count` elements of a
//! group of C, all of them if `count` is larger. Elements past the row's end are undefined when read.

//#variant strided
// Groups of four elements of a row, with any stride in A.
//#slot load x=a default element
//#slot load_quad x=a default reals
//#slot store_quad default elements

fn row_quad(start: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    return load_quad_a(start + 4u * group * dims.a_stride, dims.a_stride, length - 4u * group);
}

fn store_group(start: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    store_quad(start + 4u * group, 1u, count, v[0]);
}

//#variant vectors
// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector.
//#slot aligned_quad x=a default plain
//#slot save_quad x=c default plain
//#import save_vector x=c

fn row_quad(start: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    return quad_a((start / WIDTH + group) * QUADS + k);
}

fn store_group(start: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    save_vector_c((start / WIDTH + group) * QUADS, count, v);
}
