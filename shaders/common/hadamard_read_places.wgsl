//! The element of the operand that belongs to a row, and 0 where the operator does not have it.

//#import row_order

fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    let place = place_of(first + i * step);
    let value = load_a(x0 + min(place, dims.rows_in - 1u) * dims.x_row);
    return select(0.0, value, place < dims.rows_in);
}
