//! The sizes of a softmax or its gradient, in elements. A row is a line along the axis, one per index of the other axes. C is the
//! result, A is x or y, and M is the mask or the gradient of y.

//#import places

// The begin of a row in C, A and M. Rows are counted along the axes from this one on.
fn row_start(row: u32, first: u32) -> vec3<u32> {
    return places(row, first, dims.rank, vec3<u32>(0u, dims.a_offset, dims.m_offset));
}
