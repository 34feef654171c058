//! Elements of operand x at eight places side by side, the first a multiple of eight, widened.

fn eight_x(low: vec4<u32>, high: vec4<u32>) -> Eight {
    let unit = x[low.x / 8u];
    return Eight(vec4<f32>(unit.x), vec4<f32>(unit.y));
}
