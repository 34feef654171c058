//! A blade of operand x at the first `count` of four positions side by side, from any on: of two loads of four.

fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    let shift = at & 3u;
    let low = load_x(at - shift);
    if shift == 0u {
        return low;
    }
    var high = low;
    // What lies behind the last position may not be there.
    if shift + count > 4u { high = load_x(at - shift + 4u); }
    let one = vec4<f32>(low.yzw, high.x);
    let two = vec4<f32>(low.zw, high.xy);
    let three = vec4<f32>(low.w, high.xyz);
    return select(select(one, two, shift == 2u), three, shift == 3u);
}
