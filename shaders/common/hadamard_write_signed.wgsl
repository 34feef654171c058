//! Writes an element times the sign of its row, up to the last row.

fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    let row = first + i * step;
    if row < dims.rows_out {
        let flip = (sign_word(row) >> (row % 32u)) << 31u;
        c[y0 + row * dims.y_row] = bitcast<f32>(bitcast<u32>(value * dims.scale) ^ flip);
    }
}
