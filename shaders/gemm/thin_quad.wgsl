//! Four elements of the thin operand along k: `thin_quad(t, ks)` of row t of a thin A or column t of a thin B.

//#variant elements
// Four elements of the thin operand along k, one by one: any strides.
//#import thin_start

fn thin_quad(t: u32, ks: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(thin_start(t)) + ks * select(dims.b_k, dims.a_k, LONG_BINDING == 1u);
    return vec4<f32>(load_thin(at.x), load_thin(at.y), load_thin(at.z), load_thin(at.w));
}

//#variant along_k
// Four elements of the thin operand along k, a vector. It may reach past the end of k, and of the operand: windows
// hold whole vectors.
//#import thin_start

fn thin_quad(t: u32, ks: vec4<u32>) -> vec4<f32> {
    return load_thin(thin_start(t) + ks.x);
}
