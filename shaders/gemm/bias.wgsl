//! The bias: `bias(row, cols)`.

//#variant none
// No bias: nothing is added to sums.
fn bias(row: u32, cols: vec4<u32>) -> vec4<f32> {
    return vec4<f32>();
}

//#variant vector
// A bias for each column or each row, by its strides.
//#param  set by Epilogue::kernel
alias bias_vector_unit = f32;
const BIAS_BINDING: u32 = 3u;
//#end
@group(0) @binding(BIAS_BINDING) var<storage, read> bias_vector: array<bias_vector_unit>;

//#slot load x=bias_vector default element

fn bias(row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(dims.bias_offset + row * dims.bias_row) + cols * dims.bias_col;
    return vec4<f32>(load_bias_vector(at.x), load_bias_vector(at.y), load_bias_vector(at.z), load_bias_vector(at.w));
}
