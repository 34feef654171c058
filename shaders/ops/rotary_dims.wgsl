//! The sizes of a rotation, in elements. A row runs along the last axis; C is the result, A the operand, and T the table, which has a
//! cosine for each pair of each position, and then the sines.

//#import places

// The begin of a row in C and A, and of its angles in T.
fn row_start(row: u32) -> vec3<u32> {
    return places(row, 0u, dims.rank, vec3<u32>(0u, dims.a_offset, first_position() * dims.pairs));
}
