//! Groups of WIDTH = 4 * QUADS neighbours of a row of A, counted along it: `logits(start, group, k, length)` returns quad k of a
//! group of a row that begins at `start`. Elements past the row's end are undefined.

//#variant strided
// Groups of four elements, with any stride.
//#slot load x=a default element
//#slot load_quad x=a default reals

fn logits(start: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    return load_quad_a(start + 4u * group * dims.a_stride, dims.a_stride, length - 4u * group);
}

//#variant vectors
// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector.
//#slot aligned_quad x=a default plain

fn logits(start: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    return quad_a((start / WIDTH + group) * QUADS + k);
}
