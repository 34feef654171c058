//! An elementwise function of one or two tensors, with broadcasting.
//!
//! shapes    C of up to 6 axes, any strides that do not overlap; A and B of its shape, any strides, 0 where broadcast
//! grid      one invocation per four elements of a row of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive quads
//! requires  nothing
//! edges     invocations past the end return, elements past a row's end are not stored: any extents >= 1

struct Dims {
    axes: array<vec4<u32>, 6>, // extent, then the strides of C, A and B, in elements; innermost first
    offsets: vec4<u32>,        // first elements of C, A and B in their bindings, and the number of quads of all rows
    quads: u32,                // of a row: groups of four elements
    rank: u32,                 // number of axes, at least 1
    reserved0: u32,
    reserved1: u32,
}

//#slot dims default immediate
//#import block
//#import outer_axes
//#slot pack_pair default f16

//#param  set by ElementwiseProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const COMBINATION: u32 = SUM; // the function of two operands
const LANES: u32 = 64u;
//#end
const SUM: u32 = 0u;
const DIFFERENCE: u32 = 1u;
const PRODUCT: u32 = 2u;
const GRADIENT: u32 = 3u; // the backward pass of an activation: B times the derivative at A

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#slot activation default none
//#slot operands default two
//#slot store_quad default elements

// The function of two operands.
fn combined(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    if COMBINATION == DIFFERENCE { return a - b; }
    if COMBINATION == PRODUCT { return a * b; }
    if COMBINATION == GRADIENT { return slope(a) * b; }
    return a + b;
}

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
    let row = unit / dims.quads;
    let col = (unit - row * dims.quads) * 4u;
    let at = in_row(row, dims.offsets.xyz + col * dims.axes[0].yzw);
    let count = min(dims.axes[0].x - col, 4u);
    store_quad(at.x, dims.axes[0].y, count, value(at, count));
}
