//! What products of blades are multiplied by, at four places of a plane: `gates_at(outer, k)`.

//#variant none
// What products are multiplied by, at four places of a plane: nothing.
fn gates_at(outer: vec4<u32>, k: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}

//#variant plane
// What products are multiplied by, at four places of a plane: its elements.
@group(0) @binding(5) var<storage, read> gates: array<f32>;

fn gates_at(outer: vec4<u32>, k: vec4<u32>) -> vec4<f32> {
    let at = outer * dims.gates_outer + k * dims.gates_k;
    return vec4<f32>(gates[at.x], gates[at.y], gates[at.z], gates[at.w]);
}
