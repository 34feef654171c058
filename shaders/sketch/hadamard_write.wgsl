//! `write_row(y0, first, step, i, value)` writes row i of a lane. The column begins at y0, in elements; the rows of the
//! lane begin at `first` and are `step` apart.

//#variant plain
// Writes an element for a later pass.
fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    c[y0 + (first + i * step) * dims.y_row] = value;
}

//#variant permuted
// Writes an element to the position of its row, if the operator has the row.
fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    let position = position_of(first + i * step);
    if position < dims.rows_out {
        c[y0 + position * dims.y_row] = value * dims.scale;
    }
}

//#variant signed
// Writes an element times the sign of its row, if it is not past the last row.
fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    let row = first + i * step;
    if row < dims.rows_out {
        let flip = (sign_word(row) >> (row % 32u)) << 31u;
        c[y0 + row * dims.y_row] = bitcast<f32>(bitcast<u32>(value * dims.scale) ^ flip);
    }
}
