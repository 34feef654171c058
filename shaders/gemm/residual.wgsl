//! The residual, which is added behind the activation: `residual(row, cols)`.

//#variant none
// No residual: nothing is added behind the activation.
fn residual(row: u32, cols: vec4<u32>) -> vec4<f32> {
    return vec4<f32>();
}

//#variant matrix
// A matrix of the shape of C, of any strides.
//#param  set by Epilogue::kernel
alias residual_matrix_unit = f32;
const RESIDUAL_BINDING: u32 = 3u;
//#end
@group(0) @binding(RESIDUAL_BINDING) var<storage, read> residual_matrix: array<residual_matrix_unit>;

//#slot load x=residual_matrix default element

fn residual(row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(matrices.residual_offset + row * dims.residual_row) + cols * dims.residual_col;
    return vec4<f32>(
        load_residual_matrix(at.x),
        load_residual_matrix(at.y),
        load_residual_matrix(at.z),
        load_residual_matrix(at.w),
    );
}
