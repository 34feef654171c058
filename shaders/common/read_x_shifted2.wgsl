//! A blade of operand x at the first `count` of two positions side by side, from any on: of two loads of two.

fn read_x(at: u32, stride: u32, count: u32) -> vec2<f32> {
    let shift = at & 1u;
    let low = load_x(at - shift);
    if shift == 0u {
        return low;
    }
    // What lies behind the last position may not be there.
    if count == 1u {
        return low.yy;
    }
    return vec2<f32>(low.y, load_x(at + 1u).x);
}
