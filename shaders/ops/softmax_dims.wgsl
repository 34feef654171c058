//! The sizes of a softmax or its gradient, in elements. A row is a line along the axis, one per index of the other axes. C is the
//! result, A is x or y, and M is the mask or the gradient of y.

//#slot axes default five
//#import places

struct Dims {
    axes: Axes,                // of the rows: extent, then the strides of C, A and M; innermost first
    strides: vec4<u32>,        // along the axis: of C, A and M; then its length
    a_offset: u32,             // first elements in their bindings
    m_offset: u32,
    rows: u32,    // without the innermost axis if it has the columns
    rank: u32,    // number of axes of the rows
    lanes: u32,   // invocations that share a row: a power of two, at most LANES; or groups of columns
    scale: f32,   // of x
    parts: u32, // invocations that share a group of columns: a power of two, at most LANES
    reserved: u32,
}

// The begin of a row in C, A and M. Rows are counted along the axes from this one on.
fn row_start(row: u32, first: u32) -> vec3<u32> {
    return places(row, first, dims.rank, vec3<u32>(0u, dims.a_offset, dims.m_offset));
}
