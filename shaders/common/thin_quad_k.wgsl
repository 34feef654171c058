//! Four elements of the thin operand along k, a vector. It may reach past the end of k, and of the operand: windows hold
//! whole vectors.

//#import thin_start

fn thin_quad(t: u32, ks: vec4<u32>) -> vec4<f32> {
    return load_thin(thin_start(t) + ks.x);
}
