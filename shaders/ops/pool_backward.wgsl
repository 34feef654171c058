//! The gradient of a pooling of images with channels last: each element adds the shares that it has in the gradients of its windows.
//!
//! shapes    A (n, windows of h, windows of w, channels), and I of its shape, any strides -> C (n, h, w, channels), contiguous
//! grid      one invocation per four channels of a position of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     channels past the last one are not stored; an element that is in no window gets 0: any extents >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by PlaneProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const COUNTS_PADDING: bool = false; // in the number of elements of a window
const ROWS: u32 = 3u;    // the most windows of an element down, if they are few; else 0
const COLUMNS: u32 = 3u; // the same to the right
const LANES: u32 = 64u;
//#end
const QUADS: u32 = 1u;
const WIDTH: u32 = 4u; // channels of an invocation

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#slot row_of x=a default strided
//#slot row_store default strided
//#import plane_position
//#import taps
//#slot pool_windows default strided
//#slot pool_share default mean

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit >= dims.units {
        return;
    }
    let position = unit / dims.groups;
    let group = unit - position * dims.groups;
    let at = plane_position(position, dims.height.x, dims.width.x);
    let rows = windows_with(at.y, dims.height, dims.height_more);
    let columns = windows_with(at.z, dims.width, dims.width_more);
    let place = at.y * dims.width.x + at.z;

    var total = vec4<f32>();
    if ROWS > 0u {
        //#unroll
        for (var i = 0u; i < ROWS; i++) {
            let row = min(rows.x + i, dims.height.y - 1u);
            //#unroll
            for (var j = 0u; j < COLUMNS; j++) {
                let column = min(columns.x + j, dims.width.y - 1u);
                let g = row_quad_a(plane_start(at.x, row, column), dims.a_strides.w, group, 0u, dims.channels);
                let share = share_of(g, vec3<u32>(at.x, row, column), group, place);
                total += select(vec4<f32>(), share, rows.x + i < rows.y && columns.x + j < columns.y);
            }
        }
    } else {
        for (var row = rows.x; row < rows.y; row++) {
            for (var column = columns.x; column < columns.y; column++) {
                let g = row_quad_a(plane_start(at.x, row, column), dims.a_strides.w, group, 0u, dims.channels);
                total += share_of(g, vec3<u32>(at.x, row, column), group, place);
            }
        }
    }
    let left = dims.channels - 4u * group;
    store_group(position * dims.channels, 1u, group, left, array<vec4<sum>, QUADS>(total));
}
