//! A blade of operand x at the first `count` of four positions that are a stride apart; the others are as the first.

fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    var v = vec4<f32>(load_x(at));
    if count > 1u { v.y = load_x(at + stride); }
    if count > 2u { v.z = load_x(at + 2u * stride); }
    if count > 3u { v.w = load_x(at + 3u * stride); }
    return v;
}
