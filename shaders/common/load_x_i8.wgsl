//! One i8 element of operand x, widened to i32: memory is u32, four elements each.

fn load_x(at: u32) -> i32 {
    return extractBits(bitcast<i32>(x[at / 4u]), (at & 3u) * 8u, 8u);
}
