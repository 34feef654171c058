//! The gradients of a fully connected product with respect to its operands, from the gradients T of its path sums.
//!
//! shapes    T (matrices, rows, features) f32; gradients U of X and V of Y (blades, rows, features), contiguous; X and Y likewise, any strides
//! grid      one invocation per position, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive positions
//! requires  nothing
//! edges     invocations past the end return: any extents >= 1

struct Dims {
    positions: u32, // of T
    features: u32,  // of a row
    first: u32,     // position in X, Y, U and V of the first position of T
    plane: u32,     // positions of U and V
    x_offset: u32,
    x_blade: u32, // strides of X, in elements
    x_row: u32,
    x_feature: u32,
    y_offset: u32,
    y_blade: u32,
    y_row: u32,
    y_feature: u32,
}

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

// The default is the product of two scalars.
fn store_gradients(at: u32, at_x: u32, at_y: u32, at_u: u32) {
    let x_1 = load_x(at_x);
    let y_1 = load_y(at_y);
    let gates = gate(vec4<f32>(x_1, y_1, 0.0, 0.0));
    let slopes = gate_slope(vec4<f32>(x_1, y_1, 0.0, 0.0));
    let t0 = t[at];
    let dx_1 = t0 * y_1 * gates.y;
    let dy_1 = t0 * x_1 * gates.x;
    save_u(at_u, fma(slopes.x * x_1, dx_1, gates.x * dx_1));
    save_v(at_u, fma(slopes.y * y_1, dy_1, gates.y * dy_1));
}
//#end

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
