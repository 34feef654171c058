//! A blade of operand x at one position, which is that of all lanes.

fn read_x(at: u32, stride: u32, count: u32) -> lanes {
    return lanes(load_x(at));
}
