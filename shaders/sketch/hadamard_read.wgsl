//! `read_row(x0, first, step, i)` reads row i of a lane. The column begins at x0, in elements; the rows of the lane
//! begin at `first` and are `step` apart.

//#variant plain
// An element that an earlier pass has written.
fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    return load_a(x0 + (first + i * step) * dims.x_row);
}

//#variant permuted
// The element of the operand at the position of the row, or 0 if the operator does not have the row.
fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    let position = position_of(first + i * step);
    let value = load_a(x0 + min(position, dims.rows_in - 1u) * dims.x_row);
    return select(0.0, value, position < dims.rows_in);
}

//#variant signed
// An element of the operand times the sign of its row, or 0 past the last row. In the first pass, the rows of a lane
// are neighbours.
fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    let row = first + i;
    let value = load_a(x0 + min(row, dims.rows_in - 1u) * dims.x_row);
    // NOTE: the index is the first of 32 rows, so that one word is read for all of them. `first` is a multiple of
    // RADIX.
    let flip = (sign_word(first + i / 32u * 32u) >> (first % 32u + i % 32u)) << 31u;
    return select(0.0, bitcast<f32>(bitcast<u32>(value) ^ flip), row < dims.rows_in);
}
