//! The sizes of taking elements by index, and the source of an element of C.

//#import places

// The places in A, at index 0, and in the indices for the first element of a row of C, which runs along the innermost axis.
fn row_place(row: u32) -> vec2<u32> {
    return places(row, 1u, dims.rank, vec3<u32>(dims.a_offset, dims.index_offset, 0u)).xy;
}

// Whether an index is within the axis. The buffer may hold any number.
fn is_within(index: i32) -> bool {
    return index >= 0 && u32(index) < dims.extent;
}
