//! An elementwise function of up to four tensors, with broadcasting; generated code.
//!
//! shapes    C of up to 6 axes, any strides that do not overlap; operands of its shape, any strides, 0 where broadcast
//! grid      one invocation per four elements of a row of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive quads
//! requires  nothing
//! edges     invocations past the end return, elements past a row's end are not stored: any extents >= 1

//#slot elementwise_dims default two
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ElementwiseProblem::kernel
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#slot activation default none

//#generated operands
// The operands from binding 1 on, and `value(at, count)`: the results for the first `count` of four neighbours along the
// innermost axis. `at` has the places of the first one; components after `count` are undefined. Plans generate it.
//
//     fn value(at: Place, count: u32) -> vec4<sum>

//#slot store_quad default elements

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
    let col = (unit - row * dims.units) * 4u;
    let at = place_at(row, col);
    let count = min(dims.axes.axis0.x - col, 4u);
    store_quad(at.c, dims.axes.axis0.y, count, value(at, count));
}
