//! Softmax and its logarithm along an axis whose elements are far apart. Each invocation has neighbouring columns.
//!
//! shapes    as softmax
//! grid      one invocation per WIDTH neighbours, LANES a workgroup; consecutive ones have neighbouring columns
//! subgroup  not used
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

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#slot row_of x=a default strided
//#slot row_store default strided
//#slot softmax_mask default none
//#slot softmax_form default probabilities

// Quad k of a group of columns, at this place along the axis, scaled and masked.
fn scores(at: vec3<u32>, i: u32, group: u32, k: u32) -> vec4<f32> {
    let columns = dims.axes[0].x;
    let x = row_quad_a(at.y + i * dims.strides.y, dims.axes[0].z, group, k, columns) * dims.scale;
    let column = min(group * WIDTH + 4u * k, columns - 1u);
    return masked(x, at.z + i * dims.strides.z + column * dims.axes[0].w, dims.axes[0].w, columns - column);
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let index = block_index(workgroup, grid) * LANES + lane;
    let row = index / dims.lanes;
    let group = index - row * dims.lanes;
    let at = row_start(min(row, dims.rows - 1u), 1u); // invocations past the end read the last row
    let length = dims.strides.w;
    let count = dims.axes[0].x - group * WIDTH;
    let is_whole = length % GROUPS == 0u;

    var most: array<vec4<f32>, QUADS>;
    var sums: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        most[k] = LOWEST;
        sums[k] = vec4<f32>(0.0);
    }
    for (var first = 0u; first < length; first += GROUPS) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            var v: array<vec4<f32>, GROUPS>;
            var top = most[k];
            //#unroll
            for (var g = 0u; g < GROUPS; g++) {
                v[g] = scores(at, min(first + g, length - 1u), group, k);
                if !is_whole { v[g] = or_lowest(v[g], vec4<bool>(first + g < length)); }
                top = max(top, v[g]);
            }
            sums[k] *= exp_of_negative(most[k] - top);
            most[k] = top;
            //#unroll
            for (var g = 0u; g < GROUPS; g++) {
                sums[k] += exp_of_negative(v[g] - top);
            }
        }
    }
    if row >= dims.rows {
        return;
    }
    var last: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        last[k] = end_of(most[k], sums[k], most[k]);
    }
    for (var i = 0u; i < length; i++) {
        var results: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let distance = scores(at, i, group, k) - most[k];
            results[k] = finished(form_of(distance, exp_of_negative(distance)), last[k]);
        }
        store_group(at.x + i * dims.strides.x, dims.axes[0].y, group, count, results);
    }
}
