//! The sizes of a cumulative sum, in elements. A row is a line along the axis, one per index of the other axes. C is the result, A the
//! operand, and M has a sum for every part of every row.

//#slot axes default five
//#import places

struct Dims {
    axes: Axes,                // of the rows: extent, then the strides of C, A and M; innermost first
    strides: vec4<u32>,        // along the axis: of C and A; then 0, and its length
    a_offset: u32,             // of A's first element in its binding
    rows: u32,    // without the innermost axis if it has the columns
    rank: u32,    // number of axes of the rows
    lanes: u32,   // invocations that share a part: a power of two, at most LANES; or groups of columns
    parts: u32,   // of a row
    chunk: u32,   // elements of a part: a multiple of a vector
    reserved0: u32,
    reserved1: u32,
}

// The begin of a row in C, A and M. Rows are counted along the axes from this one on.
fn row_start(row: u32, first: u32) -> vec3<u32> {
    return places(row, first, dims.rank, vec3<u32>(0u, dims.a_offset, 0u));
}
