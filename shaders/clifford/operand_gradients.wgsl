//! The gradients of a fully connected product with respect to its operands, from the gradients T of its path sums.
//!
//! shapes    T (matrices, rows, features) f32; gradients U of X and V of Y (blades, rows, features), contiguous; X and Y likewise, any strides
//! grid      one invocation per position, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive positions
//! requires  nothing
//! edges     invocations past the end return: any extents >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by OperandGradientsProblem::kernel; these defaults are a legal kernel
alias x_unit = f32;
alias y_unit = f32;
alias u_unit = f32;
alias v_unit = f32;
alias sum = f32; // type of a result before it is stored
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> u: array<u_unit>;
@group(0) @binding(1) var<storage, read_write> v: array<v_unit>;
@group(0) @binding(2) var<storage, read> t: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<x_unit>;
@group(0) @binding(4) var<storage, read> y: array<y_unit>;

//#slot load x=x default element
//#slot load x=y default element
//#slot save x=u default element
//#slot save x=v default element
//#slot gate default one

//#generated operand_gradient_terms
// The gradients of both operands: a function that plans generate from the algebra's table.
//
// `store_gradients(at, at_x, at_y, at_u)` stores them for one position. `at` is its index in T, `at_x` and `at_y` are
// the indices of the first blades of X and Y, `at_u` is the index of the first blade of both results.
//
//     fn store_gradients(at: u32, at_x: u32, at_y: u32, at_u: u32)

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let at = block_index(workgroup, grid) * LANES + lane;
    if at >= dims.positions {
        return;
    }
    let at_u = dims.first + at;
    let row = at_u / dims.features;
    let feature = at_u - row * dims.features;
    let at_x = dims.x_offset + row * dims.x_row + feature * dims.x_feature;
    let at_y = dims.y_offset + row * dims.y_row + feature * dims.y_feature;
    store_gradients(at, at_x, at_y, at_u);
}
