//! Softmax and its logarithm along an axis whose elements are far apart. Invocations have neighbouring columns, and may share them.
//!
//! shapes    as softmax
//! grid      dims.parts invocations per WIDTH neighbours, LANES a workgroup; consecutive ones have neighbouring columns
//! subgroup  not used; invocations that share columns combine their values in shared memory
//! requires  nothing
//! edges     rows and columns past the end are not stored: any length >= 1, any rows >= 1

//#import softmax_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by SoftmaxProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four columns that an invocation loads together
const GROUPS: u32 = 4u; // places along the axis whose elements are compared before exponentials are added
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS;
const HELD: u32 = 2u * QUADS; // vectors of an invocation's state: the largest element of each column, and the sums

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#slot row_of x=a default strided
//#slot row_store default strided
//#slot softmax_mask default none
//#slot softmax_form default probabilities
//#slot column_parts default one

// Quad k of a group of columns, at this place along the axis, scaled and masked.
fn scores(at: vec3<u32>, i: u32, group: u32, k: u32) -> vec4<f32> {
    let columns = dims.axes.axis0.x;
    let x = row_quad_a(at.y + i * dims.strides.y, dims.axes.axis0.z, group, k, columns) * dims.scale;
    let column = min(group * WIDTH + 4u * k, columns - 1u);
    return masked(x, at.z + i * dims.strides.z + column * dims.axes.axis0.w, dims.axes.axis0.w, columns - column);
}

// The joined states of two invocations for the same columns.
fn joined_columns(x: array<vec4<f32>, HELD>, y: array<vec4<f32>, HELD>) -> array<vec4<f32>, HELD> {
    var all: array<vec4<f32>, HELD>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        let top = max(x[k], y[k]);
        all[k] = top;
        all[QUADS + k] = x[QUADS + k] * exp_of_negative(x[k] - top) + y[QUADS + k] * exp_of_negative(y[k] - top);
    }
    return all;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let index = block_index(workgroup, grid) * groups_together() + lane % groups_together();
    let part = lane / groups_together();
    let row = index / dims.lanes;
    let group = index - row * dims.lanes;
    let at = row_start(min(row, dims.rows - 1u), 1u); // invocations past the end read the last row
    let length = dims.strides.w;
    let count = dims.axes.axis0.x - group * WIDTH;
    let is_whole = length % GROUPS == 0u;

    // The largest elements, then the sums of exponentials.
    var own: array<vec4<f32>, HELD>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        own[k] = LOWEST;
    }
    let groups = rows_of_part(part, length, GROUPS);
    for (var first = groups.x; first < groups.y; first += groups.z) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            var v: array<vec4<f32>, GROUPS>;
            var top = own[k];
            //#unroll
            for (var g = 0u; g < GROUPS; g++) {
                v[g] = scores(at, min(first + g, length - 1u), group, k);
                if !is_whole { v[g] = or_lowest(v[g], vec4<bool>(first + g < length)); }
                top = max(top, v[g]);
            }
            own[QUADS + k] *= exp_of_negative(own[k] - top);
            own[k] = top;
            //#unroll
            for (var g = 0u; g < GROUPS; g++) {
                own[QUADS + k] += exp_of_negative(v[g] - top);
            }
        }
    }
    let all = known_together(own, lane);
    if row >= dims.rows {
        return;
    }
    var last: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        last[k] = end_of(all[k], all[QUADS + k], all[k]);
    }
    let rows = rows_of_part(part, length, 1u);
    for (var i = rows.x; i < rows.y; i += rows.z) {
        var results: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let distance = scores(at, i, group, k) - all[k];
            results[k] = finished(form_of(distance, exp_of_negative(distance)), last[k]);
        }
        store_group(at.x + i * dims.strides.x, dims.axes.axis0.y, group, count, results);
    }
}
