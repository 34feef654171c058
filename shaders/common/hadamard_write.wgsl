//! Leaves an element for a later pass.

fn write_row(y0: u32, first: u32, step: u32, i: u32, value: f32) {
    c[y0 + (first + i * step) * dims.y_row] = value;
}
