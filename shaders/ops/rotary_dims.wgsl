//! The sizes of a rotation, in elements. A row runs along the last axis; C is the result, A the operand, and T the table, which has a
//! cosine for each pair of each position, and then the sines.

//#slot axes default five
//#import places

struct Dims {
    axes: Axes,                // of the rows: extent, then the strides of C, A and T; innermost first
    a_offset: u32,             // first element in its binding
    a_stride: u32,             // along a row
    width: u32,                // elements of a row
    pairs: u32,                // rotated elements of a row, from the first one on
    row_units: u32,            // invocations for a row
    pair_units: u32,           // of them for its pairs
    units: u32,                // invocations for all rows
    rank: u32,                 // number of axes of the rows, at least 1
    start: u32, // the first position in T from the call, or its index in a buffer
    last: u32,  // the last one that leaves a position for each row
    sines: u32, // the begin of the sines in T
    sign: f32,  // their factor: -1 for a gradient
}

// The begin of a row in C and A, and of its angles in T.
fn row_start(row: u32) -> vec3<u32> {
    return places(row, 0u, dims.rank, vec3<u32>(0u, dims.a_offset, first_position() * dims.pairs));
}
