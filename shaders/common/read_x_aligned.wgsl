//! A blade of operand x at four positions side by side from a multiple of four on; or four blades of it.

fn read_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    return load_x(at);
}
