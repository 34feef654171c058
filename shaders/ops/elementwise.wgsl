//! An elementwise function of one or two tensors, with broadcasting.
//!
//! shapes    C of up to 6 axes, any strides that do not overlap; A and B of its shape, any strides, 0 where broadcast
//! grid      one invocation per four elements of a row of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive quads
//! requires  nothing
//! edges     invocations past the end return, elements past a row's end are not stored: any extents >= 1

//#import elementwise_dims
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

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#slot activation default none
//#import combined
//#slot operands default two
//#slot store_quad default elements

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
    let col = (unit - row * dims.units) * 4u;
    let at = in_row(row, dims.offsets.xyz + col * dims.axes[0].yzw);
    let count = min(dims.axes[0].x - col, 4u);
    store_quad(at.x, dims.axes[0].y, count, value(at, count));
}
