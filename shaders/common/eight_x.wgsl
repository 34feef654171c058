//! Elements of operand x at eight places, widened.

fn eight_x(low: vec4<u32>, high: vec4<u32>) -> Eight {
    return Eight(
        vec4<f32>(f32(x[low.x]), f32(x[low.y]), f32(x[low.z]), f32(x[low.w])),
        vec4<f32>(f32(x[high.x]), f32(x[high.y]), f32(x[high.z]), f32(x[high.w])),
    );
}
