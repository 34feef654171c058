//! Groups of WIDTH = 4 * QUADS elements of a row of X, counted along it: `row_quad_x(start, stride, group, k, length)` is quad k of
//! a group of a row that begins at `start`. Elements past the row's end are undefined; the row has at least one element.

//#variant strided
// Groups of four elements of a row, with any stride.
//#slot load x=x default element
//#slot load_quad x=x default reals

fn row_quad_x(start: u32, stride: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    return load_quad_x(start + 4u * group * stride, stride, length - 4u * group);
}

//#variant vectors
// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector.
//#slot aligned_quad x=x default plain

fn row_quad_x(start: u32, stride: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    return quad_x((start / WIDTH + group) * QUADS + k);
}
