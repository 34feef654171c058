//! Elements of operand x at four places: `four_x(at)`.

//#variant places
// Elements of operand x at four places.
fn four_x(at: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}

//#variant vector
// Elements of operand x at four places side by side, the first a multiple of four.
fn four_x(at: vec4<u32>) -> vec4<f32> {
    return load_x(at.x);
}
