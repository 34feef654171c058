//! The sizes of a cumulative sum, in elements. A row is a line along the axis, one per index of the other axes. C is the result, A the
//! operand, and M has a sum for every part of every row.

//#import places

// The begin of a row in C, A and M. Rows are counted along the axes from this one on.
fn row_start(row: u32, first: u32) -> vec3<u32> {
    return places(row, first, dims.rank, vec3<u32>(0u, dims.a_offset, 0u));
}
