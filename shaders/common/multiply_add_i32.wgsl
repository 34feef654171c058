//! One step of a sum, in i32: exact.

fn multiply_add(x: i32, y: i32, total: i32) -> i32 {
    return x * y + total;
}
