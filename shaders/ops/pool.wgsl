//! Pooling of images with channels last: the largest element of each window, or the mean.
//!
//! shapes    A (n, h, w, channels), any strides -> C (n, windows of h, windows of w, channels), and I of its shape, contiguous
//! grid      one invocation per four channels of a position of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     channels past the last one are not stored; taps in the padding are not read: any extents >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by PlaneProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const COUNTS_PADDING: bool = false; // in the number of elements of a window
const ROWS: u32 = 3u;    // the most taps of a window down, if they are few; else 0
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
//#slot pool_state default largest
//#slot pool_indices default none

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
    let at = plane_position(position, dims.height.y, dims.width.y);
    let rows = taps_in(at.y, dims.height, dims.height_more);
    let columns = taps_in(at.z, dims.width, dims.width_more);

    var state = nothing();
    if ROWS > 0u {
        // A window always has an element. Taps past its last one take that again.
        //#unroll
        for (var i = 0u; i < ROWS; i++) {
            let row = rows.first + min(i, rows.count - 1u);
            //#unroll
            for (var j = 0u; j < COLUMNS; j++) {
                let column = columns.first + min(j, columns.count - 1u);
                let v = row_quad_a(plane_start(at.x, row, column), dims.a_strides.w, group, 0u, dims.channels);
                state = joined(state, v, row * dims.width.x + column, i < rows.count && j < columns.count);
            }
        }
    } else {
        for (var i = 0u; i < rows.count; i++) {
            let row = rows.first + i * rows.step;
            for (var j = 0u; j < columns.count; j++) {
                let column = columns.first + j * columns.step;
                let v = row_quad_a(plane_start(at.x, row, column), dims.a_strides.w, group, 0u, dims.channels);
                state = joined(state, v, row * dims.width.x + column, true);
            }
        }
    }
    var places = vec2<u32>(rows.count, columns.count);
    if COUNTS_PADDING { places = vec2<u32>(rows.places, columns.places); }
    let begin = position * dims.channels;
    let left = dims.channels - 4u * group;
    store_group(begin, 1u, group, left, array<vec4<sum>, QUADS>(result(state, places)));
    store_indices(begin + 4u * group, left, state.indices);
}
