//! An element that an earlier pass has left. `x0` is where the column starts; rows begin at `first` and are `step` apart.

fn read_row(x0: u32, first: u32, step: u32, i: u32) -> f32 {
    return load_a(x0 + (first + i * step) * dims.x_row);
}
