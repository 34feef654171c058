//! What becomes of four consecutive sums of a row as they are stored: `epilogue(row, col, sums)`.

//#variant none
// What becomes of sums as they are stored: nothing.
fn epilogue(row: u32, col: u32, sums: vec4<sum>) -> vec4<sum> {
    return sums;
}

//#variant forms
// What becomes of sums as they are stored: activation(alpha sums + beta C + bias) + residual, for four consecutive
// elements of a row, of which the first is within C. Beyond its end, the last elements are read again.
//#slot scaled default alpha
//#slot previous default none
//#slot addend x=bias default none
//#slot addend x=residual default none
//#slot activation default none

fn epilogue(row: u32, col: u32, sums: vec4<sum>) -> vec4<sum> {
    let cols = min(vec4<u32>(col) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.n - 1u));
    let z = scaled(row, cols, sums) + previous(row, cols) + bias_at(dims.bias_offset, row, cols);
    return activate(z) + residual_at(matrices.residual_offset, row, cols);
}
