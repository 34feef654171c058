//! Softmax along the last axis: exponentials of the distances to a row's maximum, divided by their sum.
//!
//! shapes    A of up to 6 axes, any strides -> C of its shape, row-major from the start of its binding; f32 sums
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end are empty, elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import softmax_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by SoftmaxProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that a lane loads together
const LANES: u32 = 256u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = f32;

//#slot row default strided
//#slot row_lanes default shared
//#import across x=most
//#import across x=sums
//#import math

fn joined_most(x: held, y: held) -> held {
    return max(x, y);
}

fn joined_sums(x: held, y: held) -> held {
    return x + y;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let row = block_index(workgroup, grid) * (LANES / dims.lanes) + lane / dims.lanes;
    let part = lane % dims.lanes;
    let at = row_at(min(row, dims.rows - 1u));
    let length = select(0u, dims.length, row < dims.rows); // rows past the end are empty
    let groups = (length + WIDTH - 1u) / WIDTH;
    let four = vec4<u32>(0u, 1u, 2u, 3u);

    // The lowest f32. A row without a larger element has an undefined sum and becomes NaN.
    let lowest = vec4<f32>(-3.40282347e38);
    var most = lowest;
    for (var group = part; group < groups; group += dims.lanes) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let is_within = four + 4u * k < vec4<u32>(length - group * WIDTH);
            most = max(most, select(lowest, row_quad(at.y, group, k, length), is_within));
        }
    }
    let top = across_most(max(max(most.x, most.y), max(most.z, most.w)), lane);

    var sums = vec4<f32>(0.0);
    for (var group = part; group < groups; group += dims.lanes) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let is_within = four + 4u * k < vec4<u32>(length - group * WIDTH);
            let e = exp_of(row_quad(at.y, group, k, length) - top);
            sums += select(vec4<f32>(0.0), e, is_within);
        }
    }
    let total = across_sums((sums.x + sums.y) + (sums.z + sums.w), lane);

    for (var group = part; group < groups; group += dims.lanes) {
        var e: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            e[k] = exp_of(row_quad(at.y, group, k, length) - top) / total;
        }
        store_group(at.x, group, length - group * WIDTH, e);
    }
}
