//! A matrix of the shape of C, of any strides.

//#param  set by Epilogue::kernel
alias residual_unit = f32;
const RESIDUAL_BINDING: u32 = 3u;
//#end
@group(0) @binding(RESIDUAL_BINDING) var<storage, read> residual_matrix: array<residual_unit>;

//#import load_x x=residual_matrix

fn residual(row: u32, cols: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(matrices.residual_offset + row * dims.residual_row) + cols * dims.residual_col;
    return vec4<f32>(
        load_residual_matrix(at.x),
        load_residual_matrix(at.y),
        load_residual_matrix(at.z),
        load_residual_matrix(at.w),
    );
}
