//! A function of one multivector or two, position by position, whose code is made from the algebra's table of signs.
//!
//! shapes    C (blades, ...), or (..., blades), up to 5 axes beside the blades'; X and Y likewise, strides 0 where repeated
//! grid      one invocation per position, or per two or four along the innermost axis, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive positions
//! requires  nothing
//! edges     invocations past the end leave, what is past a row's end is cut: any extents >= 1

struct Dims {
    axes: array<vec4<u32>, 5>, // extent, then the strides of C, X and Y, in elements; innermost first
    blades: vec4<u32>,         // strides of C, X and Y from blade to blade
    offsets: vec4<u32>,        // first elements of C, X and Y in their bindings; and the units of all rows
    units: u32,                // of a row: its positions, or twos or fours of them
    rank: u32,                 // axes that there are, 1 at least
    out: u32,                  // blades of C
    reserved0: u32,
}

//#slot dims default immediate
//#import block
//#import outer_axes
//#slot pack_pair default f16

//#param  set by CliffordProblem::kernel; these defaults are a legal kernel
alias c_unit = f32;
alias sum = f32; // what is stored, before it is
alias lanes = vec4<f32>; // positions of an invocation
const WIDTH: u32 = 4u; // how many
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#made operands
// The operands, bound from 1 on: X and, of functions of two, Y, each with its `x_unit`, `load_x` and `read_x`. Plans make the
// declarations.

// Two operands, which stand here for them.
//#param
alias x_unit = f32;
alias y_unit = f32;
//#end
@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> y: array<y_unit>;

//#slot load x=x default element
//#slot read x=x default positions
//#slot load x=y default element
//#slot read x=y default positions
//#end

//#slot store_adjacent default four

//#made results
// What an invocation computes: a function that plans make from an algebra's table of signs.
//
// `results(at, stride, step, count)` reads all blades of X, and of Y if there is one, computes each blade of C and stores
// it. `at` are the places of C, X and Y (x, y, z) at the invocation's first position and the first blade, `stride` is from
// position to position, and `step` from blade to blade, in elements. `count` says how many positions there are, from 1 to
// WIDTH; behind them nothing is stored. It calls `read_x` and `read_y` for operands, `store_adjacent` for C, and what it
// imports.

// The product of two scalars, which stands here for what plans make.
fn results(at: vec3<u32>, stride: vec3<u32>, step: vec3<u32>, count: u32) {
    let x0 = read_x(at.y + 0u * step.y, stride.y, count);
    let y0 = read_y(at.z + 0u * step.z, stride.z, count);
    // 1
    let z0 = x0 * y0;
    store_adjacent(at.x + 0u * step.x, count, z0);
}
//#end

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit >= dims.offsets.w {
        return;
    }
    let row = unit / dims.units;
    let first = (unit - row * dims.units) * WIDTH;
    let at = in_row(row, dims.offsets.xyz + first * dims.axes[0].yzw);
    let count = min(dims.axes[0].x - first, WIDTH);
    results(at, dims.axes[0].yzw, dims.blades.xyz, count);
}
