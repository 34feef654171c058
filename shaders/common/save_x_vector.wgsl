//! Stores as many elements of operand x as an invocation has features, side by side from a multiple of their number on.

fn save_x(at: u32, v: lanes) {
    x[at / WIDTH] = x_unit(v);
}
