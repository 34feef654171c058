//! One multiply-add: `multiply_add(x, y, total)`.

//#variant f32
// In f32.
fn multiply_add(x: f32, y: f32, total: f32) -> f32 {
    return fma(x, y, total);
}

//#variant i32
// In i32, exact.
fn multiply_add(x: i32, y: i32, total: i32) -> i32 {
    return x * y + total;
}
