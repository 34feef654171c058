//! What is added to four sums of a row, from a tensor called x: `x_at(first, steps, row, cols)` are its elements there, where
//! `first` is the place of its first element in its binding, and `steps` are its strides along a column and along a row.
//! `X_IS_ADDED` says whether there is such a tensor.

//#variant none
// There is none: zeros.
const X_IS_ADDED: bool = false;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    return vec4<f32>();
}

//#variant tensor
// A tensor of its own, one by one: any strides, 0 where it is repeated.
//#param  set by Epilogue::kernel
alias x_unit = f32;
const X_BINDING: u32 = 3u;
//#end
@group(0) @binding(X_BINDING) var<storage, read> x: array<x_unit>;

//#slot load x=x default element

const X_IS_ADDED: bool = true;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(first + row * steps.x) + cols * steps.y;
    return vec4<f32>(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}

//#variant held
// What the result itself held, which is bound already, one by one.
//#slot load x=x default element

const X_IS_ADDED: bool = true;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(first + row * steps.x) + cols * steps.y;
    return vec4<f32>(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}

//#variant held_vector
// What the result itself held, four elements at once, which lie side by side.
//#slot load x=x default element

const X_IS_ADDED: bool = true;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    return load_x(first + row * steps.x + cols.x);
}
