//! The sizes of a norm of rows, in elements. The elements of a row are normalised together. B is the second operand: the
//! residual, or the gradient of the result. The rows are counted along the axes.

//#import places

// The places of a row's first elements in A and B.
fn row_places(row: u32) -> vec2<u32> {
    return places(row, 0u, dims.rank, vec3<u32>(dims.a_offset, dims.b_offset, 0u)).xy;
}
