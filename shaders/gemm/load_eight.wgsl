//! Elements of operand x at eight places, widened: `load_eight_x(low, high)`.

//#variant places
// Elements of operand x at eight places, widened.
fn load_eight_x(low: vec4<u32>, high: vec4<u32>) -> Eight {
    return Eight(
        vec4<f32>(f32(x[low.x]), f32(x[low.y]), f32(x[low.z]), f32(x[low.w])),
        vec4<f32>(f32(x[high.x]), f32(x[high.y]), f32(x[high.z]), f32(x[high.w])),
    );
}

//#variant unit
// Elements of operand x at eight consecutive places, the first a multiple of eight, widened.
fn load_eight_x(low: vec4<u32>, high: vec4<u32>) -> Eight {
    let unit = x[low.x / 8u];
    return Eight(vec4<f32>(unit.x), vec4<f32>(unit.y));
}
