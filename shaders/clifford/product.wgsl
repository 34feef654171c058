//! A function of one or two multivectors at each position, with code generated from the algebra's table of signs.
//!
//! shapes    C (blades, ...) or (..., blades), with up to 5 position axes; X and Y likewise, strides 0 where broadcast
//! grid      one invocation per WIDTH positions along the innermost axis (1, 2 or 4), LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive positions
//! requires  nothing
//! edges     invocations past the end return, positions past a row's end are not stored: any extents >= 1

//#import places

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by CliffordProblem::kernel; these defaults are a legal kernel
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
alias lanes = vec4<f32>; // one value per position of an invocation
const WIDTH: u32 = 4u; // positions of an invocation
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#generated operands
// The operands, from binding 1 on: X, and Y if the function has two, each with its `x_unit`, `load_x` and `read_x`.
// Plans generate these declarations.

//#slot store_consecutive default four

//#generated results
// The computation of an invocation: a function that plans generate from an algebra's table of signs.
//
// `results(at, stride, step, count)` reads all blades of X and Y, computes each blade of C and stores it. `at` has the
// indices in C, X and Y (x, y, z) of the first blade at the invocation's first position, `stride` the distances between
// positions, and `step` the distances between blades, in elements. `count` is the number of positions, from 1 to WIDTH;
// nothing is stored after them. It calls `read_x` and `read_y` for operands, `store_consecutive` for C, and imported
// functions.
//
//     fn results(at: vec3<u32>, stride: vec3<u32>, step: vec3<u32>, count: u32)

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit >= dims.offsets.w {
        return;
    }
    let row = unit / dims.units;
    let first = (unit - row * dims.units) * WIDTH;
    let at = places(row, 1u, dims.rank, dims.offsets.xyz + first * dims.axes.axis0.yzw);
    let count = min(dims.axes.axis0.x - first, WIDTH);
    results(at, dims.axes.axis0.yzw, dims.blades.xyz, count);
}
