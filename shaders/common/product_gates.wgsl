//! What products are multiplied by, at four places of a plane: nothing.

fn gates_at(outer: vec4<u32>, k: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}
