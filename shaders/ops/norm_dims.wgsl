//! The sizes of a norm of rows, in elements. The elements of a row are normalised together. B is the second operand: the
//! residual, or the gradient of the result. The rows are counted along the axes.

//#slot axes default five
//#import places

struct Dims {
    axes: Axes,                // of the rows: extent, then the strides of A and B, then 0; innermost first
    a_offset: u32,             // first elements in their bindings
    b_offset: u32,
    a_stride: u32, // along a row
    b_stride: u32,
    gamma_offset: u32,
    beta_offset: u32,
    length: u32, // of a row
    rows: u32,
    rank: u32,  // number of axes of the rows
    lanes: u32, // invocations that share a row: a power of two, at most LANES
    each: u32,  // rows that an invocation takes one after another, in a backward pass
    eps: f32,
}

// The places of a row's first elements in A and B.
fn row_places(row: u32) -> vec2<u32> {
    return places(row, 0u, dims.rank, vec3<u32>(dims.a_offset, dims.b_offset, 0u)).xy;
}
