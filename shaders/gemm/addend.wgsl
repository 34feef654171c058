//! A tensor x that is added to four sums of a row: `x_at(first, steps, row, cols)` returns its elements there. `first` is the
//! index of its first element in its binding; `steps` are its strides from row to row and from column to column.
//! `X_IS_ADDED` says whether there is such a tensor.

//#variant none
// No tensor: zeros.
const X_IS_ADDED: bool = false;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    return vec4<f32>();
}

//#variant tensor
// A tensor with its own binding, one element at a time: any strides, 0 along an axis that broadcasts.
//#param  set by GemmProblem::bind_epilogue
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

//#variant groups
// The same of a vector along the columns of all matrices along axis 1 of the batch, one matrix after another.
//#param  set by GemmProblem::bind_epilogue
alias x_unit = f32;
const X_BINDING: u32 = 3u;
//#end
@group(0) @binding(X_BINDING) var<storage, read> x: array<x_unit>;

//#slot load x=x default element

const X_IS_ADDED: bool = true;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(first) + (vec4<u32>(matrices.index % dims.batch1 * dims.n) + cols) * steps.y;
    return vec4<f32>(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}

//#variant held
// The previous contents of the result, whose binding exists already, one element at a time.
//#slot load x=x default element

const X_IS_ADDED: bool = true;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(first + row * steps.x) + cols * steps.y;
    return vec4<f32>(load_x(at.x), load_x(at.y), load_x(at.z), load_x(at.w));
}

//#variant held_vector
// The previous contents of the result, four consecutive elements at once.
//#slot load x=x default element

const X_IS_ADDED: bool = true;

fn x_at(first: u32, steps: vec2<u32>, row: u32, cols: vec4<u32>) -> vec4<f32> {
    return load_x(first + row * steps.x + cols.x);
}
