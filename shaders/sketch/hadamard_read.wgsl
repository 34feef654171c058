//! The element of row i of a lane: `read_row(x0, first, step, i)`. The column starts at x0, in elements; the lane's rows
//! begin at `first` and are `step` apart.

//#variant plain
// An element that an earlier pass has left.
fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    return load_a(x0 + (first + i * step) * dims.x_row);
}

//#variant places
// The element of the operand that belongs to a row, and 0 where the operator does not have it.
fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    let place = place_of(first + i * step);
    let value = load_a(x0 + min(place, dims.rows_in - 1u) * dims.x_row);
    return select(0.0, value, place < dims.rows_in);
}

//#variant signed
// An element of the operand times the sign of its row, and 0 past the last row. Rows are neighbours in the first
// pass.
fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    let row = first + i;
    let value = load_a(x0 + min(row, dims.rows_in - 1u) * dims.x_row);
    // NOTE: by the first of 32 rows, so that one word is read for all of them: `first` is a multiple of RADIX.
    let flip = (sign_word(first + i / 32u * 32u) >> (first % 32u + i % 32u)) << 31u;
    return select(0.0, bitcast<f32>(bitcast<u32>(value) ^ flip), row < dims.rows_in);
}
