//! Four elements of the thin operand along k: `thin_quad(t, ks)` of row t of a thin A or column t of a thin B.

// Where row t of a thin A, or column t of a thin B, starts; past the edge the last is read again.
fn thin_start(t: u32) -> u32 {
    let last = select(dims.n, dims.m, LONG_BINDING == 1u) - 1u;
    let first = select(matrices.b_offset, matrices.a_offset, LONG_BINDING == 1u);
    return first + min(t, last) * select(dims.b_outer, dims.a_outer, LONG_BINDING == 1u);
}

//#variant elements
// Four elements of the thin operand along k, one by one: any strides.
fn thin_quad(t: u32, ks: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(thin_start(t)) + ks * select(dims.b_k, dims.a_k, LONG_BINDING == 1u);
    return vec4<f32>(load_thin(at.x), load_thin(at.y), load_thin(at.z), load_thin(at.w));
}

//#variant along_k
// Four elements of the thin operand along k, a vector. It may reach past the end of k, and of the operand: windows
// hold whole vectors.
fn thin_quad(t: u32, ks: vec4<u32>) -> vec4<f32> {
    return load_thin(thin_start(t) + ks.x);
}
