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

//#variant shifted
// activation((sums + bias) scale + shift) + residual for four consecutive elements of a row. Bias, scale and shift are vectors along the
// columns of all matrices along axis 1 of the batch, one matrix after another.
//#slot addend x=bias_vector default none
//#slot addend x=residual_matrix default none
//#slot activation default none
//#slot requantised default none

//#param  set by GemmProblem::bind_epilogue
const SHIFT_BINDING: u32 = 3u;
//#end
@group(0) @binding(SHIFT_BINDING) var<storage, read> shift: array<f32>;
@group(0) @binding(SHIFT_BINDING + 1u) var<storage, read> column_scales: array<f32>;

fn epilogue(row: u32, col: u32, sums: vec4<sum>) -> vec4<sum> {
    let cols = min(vec4<u32>(col) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.n - 1u));
    let columns = vec4<u32>(matrices.index % dims.batch1 * dims.n) + cols;
    let scale_at = vec4<u32>(dims.column_scale_offset) + columns * dims.column_scale_step;
    let shift_at = vec4<u32>(dims.row_scale_offset) + columns * dims.row_scale_step;
    let scales = vec4<f32>(
        column_scales[scale_at.x],
        column_scales[scale_at.y],
        column_scales[scale_at.z],
        column_scales[scale_at.w],
    );
    let shifts = vec4<f32>(shift[shift_at.x], shift[shift_at.y], shift[shift_at.z], shift[shift_at.w]);
    let bias = bias_vector_at(dims.bias_offset, vec2<u32>(dims.bias_row, dims.bias_col), row, cols);
    let z = (sums + bias) * scales + shifts;
    let steps = vec2<u32>(dims.residual_row, dims.residual_col);
    return requantised(activate(z) + residual_matrix_at(matrices.residual_offset, steps, row, cols));
}
