//! The mask of a softmax: `masked(x, at, stride, count)` for four elements x of A. M has the first `count` of four elements, `stride` apart.

//#variant none
// There is no mask.
fn masked(x: vec4<f32>, at: u32, stride: u32, count: u32) -> vec4<f32> {
    return x;
}

//#variant added
// The mask is added.
//#param  set by SoftmaxProblem::kernel
alias m_unit = f32;
//#end
@group(0) @binding(2) var<storage, read> m: array<m_unit>;
//#slot load x=m default element
//#slot load_quad x=m default reals

fn masked(x: vec4<f32>, at: u32, stride: u32, count: u32) -> vec4<f32> {
    return x + load_quad_m(at, stride, count);
}
