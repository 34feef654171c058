//! The sizes of taking elements by index, and the source of an element of C.

//#slot axes default six
//#import places

struct Dims {
    axes: Axes,                // of C, innermost first: extent, then the strides of A and of the indices, then 0
    a_offset: u32,             // first elements, or vectors, in the bindings
    index_offset: u32,
    a_stride: u32, // along the axis of A that is indexed
    extent: u32,   // of that axis
    count: u32,    // elements, or vectors, of C
    rank: u32,     // number of axes, at least 1
    missing: u32,  // the bits of the result of an index out of range
    start: u32,    // index of the first position of A's window along that axis
}

// The places in A, at index 0, and in the indices for the first element of a row of C, which runs along the innermost axis.
fn row_place(row: u32) -> vec2<u32> {
    return places(row, 1u, dims.rank, vec3<u32>(dims.a_offset, dims.index_offset, 0u)).xy;
}

// Whether an index is within the axis. The buffer may hold any number.
fn is_within(index: i32) -> bool {
    return index >= 0 && u32(index) < dims.extent;
}
