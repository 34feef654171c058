//! A blade of operand x at all positions of an invocation, side by side from a multiple of their number on.

fn read_x(at: u32, stride: u32, count: u32) -> lanes {
    return load_x(at);
}
