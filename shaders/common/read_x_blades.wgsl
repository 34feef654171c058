//! Four blades of operand x at one position, side by side from a multiple of four on.

fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    return load_x(at);
}
