//! The epilogue of four consecutive sums of a row: `epilogue(row, col, sums)`.

//#variant none
// No epilogue: the sums themselves.
fn epilogue(row: u32, col: u32, sums: vec4<sum>) -> vec4<sum> {
    return sums;
}

//#variant forms
// activation(alpha sums + beta C + bias) + residual, requantised if C is i8, for four consecutive elements of a row. The first is within C; past the
// end of the row, the operands of the last column are read again.
//#slot scaled default alpha
//#slot addend x=c default none
//#slot addend x=bias_vector default none
//#slot addend x=residual_matrix default none
//#slot activation default none
//#slot requantised default none

// The previous contents of C, times beta. If they are not added, they are not read, and this is 0.
fn previous(row: u32, cols: vec4<u32>) -> vec4<f32> {
    if C_IS_ADDED {
        return dims.beta * c_at(matrices.c_offset, vec2<u32>(dims.ldc, 1u), row, cols);
    }
    return vec4<f32>();
}

fn bias(row: u32, cols: vec4<u32>) -> vec4<f32> {
    return bias_vector_at(dims.bias_offset, vec2<u32>(dims.bias_row, dims.bias_col), row, cols);
}

fn residual(row: u32, cols: vec4<u32>) -> vec4<f32> {
    return residual_matrix_at(matrices.residual_offset, vec2<u32>(dims.residual_row, dims.residual_col), row, cols);
}

fn epilogue(row: u32, col: u32, sums: vec4<sum>) -> vec4<sum> {
    let cols = min(vec4<u32>(col) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.n - 1u));
    let z = scaled(row, cols, sums) + previous(row, cols) + bias(row, cols);
    return requantised(activate(z) + residual(row, cols));
}
