//! What is added to four sums of a row, from a tensor called x: `x_at(first, row, cols)`, where `first` is the place of its
//! first element in its binding, and `dims.x_row` and `dims.x_col` are its strides.

//#variant none
// There is no such tensor: nothing is added.
fn x_at(first: u32, row: u32, cols: vec4<u32>) -> vec4<f32> {
    return vec4<f32>();
}

//#variant tensor
// Its elements, one by one: any strides, 0 where it is repeated.
//#param  set by Epilogue::kernel
alias x_unit = f32;
const X_BINDING: u32 = 3u;
//#end
@group(0) @binding(X_BINDING) var<storage, read> x: array<x_unit>;

//#slot load x=x default element

fn x_at(first: u32, row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(first + row * dims.x_row) + cols * dims.x_col;
    return vec4<f32>(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}
