//! One step of a sum, in f32.

fn multiply_add(x: f32, y: f32, total: f32) -> f32 {
    return fma(x, y, total);
}
