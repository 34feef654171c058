//! Writes the element of row i of a lane: `write_row(y0, first, step, i, value)`. The column starts at y0, in elements; the
//! lane's rows begin at `first` and are `step` apart.

//#variant plain
// Leaves an element for a later pass.
fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    c[y0 + (first + i * step) * dims.y_row] = value;
}

//#variant places
// Writes an element to the place at which the operator has its row, if it has it.
fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    let place = place_of(first + i * step);
    if place < dims.rows_out {
        c[y0 + place * dims.y_row] = value * dims.scale;
    }
}

//#variant signed
// Writes an element times the sign of its row, up to the last row.
fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    let row = first + i * step;
    if row < dims.rows_out {
        let flip = (sign_word(row) >> (row % 32u)) << 31u;
        c[y0 + row * dims.y_row] = bitcast<f32>(bitcast<u32>(value * dims.scale) ^ flip);
    }
}
