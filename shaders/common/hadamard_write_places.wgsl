//! Writes an element to the place at which the operator has its row, if it has it.

//#import row_order

fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    let place = place_of(first + i * step);
    if place < dims.rows_out {
        c[y0 + place * dims.y_row] = value * dims.scale;
    }
}
