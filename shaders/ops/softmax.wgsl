//! Softmax and its logarithm along an axis: exponentials of the distances to a row's maximum, divided by their sum.
//!
//! shapes    A of up to 6 axes, any strides -> C of its shape, row-major; a mask M that is added, any strides; f32 sums
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end and elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import softmax_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by SoftmaxProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that a lane loads together
const GROUPS: u32 = 4u; // groups that a lane keeps
const LANES: u32 = 256u;
const EVEN: bool = false; // each lane of a row has a multiple of GROUPS groups, all whole
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = vec2<f32>; // the largest, and the sum of the exponentials of the distances to it

//#slot row_of x=a default strided
//#slot row_store default strided
//#slot row_lanes default shared
//#slot softmax_mask default none
//#slot softmax_form default probabilities
//#import across x=rows
//#import softmax_sums

fn joined_rows(x: held, y: held) -> held {
    return joined_sums(x, y);
}

// A group of a row. It is loaded at once, so that a compiler can use one access.
fn loaded(start: u32, group: u32, length: u32) -> array<vec4<f32>, QUADS> {
    var x: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        x[k] = row_quad_a(start, dims.strides.y, group, k, length);
    }
    return x;
}

// Quad k of a group, scaled and masked.
fn scores(x: vec4<f32>, start: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    let first = min(group * WIDTH + 4u * k, length - 1u);
    return masked(x * dims.scale, start + first * dims.strides.z, dims.strides.z, length - first);
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let row = block_index(workgroup, grid) * rows_at_once() + row_of(lane);
    let part = part_of(lane);
    let at = row_start(min(row, dims.rows - 1u), 0u); // invocations past the end read the last row
    let length = dims.strides.w;
    let groups = (length + WIDTH - 1u) / WIDTH;

    var own = NO_SUMS;
    var kept: array<array<vec4<f32>, QUADS>, GROUPS>;
    for (var first = part; first < groups; first += dims.lanes * GROUPS) {
        var most = vec4<f32>(own.x);
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            let group = select(min(first + g * dims.lanes, groups - 1u), first + g * dims.lanes, EVEN);
            kept[g] = loaded(at.y, group, length);
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                kept[g][k] = scores(kept[g][k], at.z, group, k, length);
                if !EVEN {
                    let index = vec4<u32>(0u, 1u, 2u, 3u) + ((first + g * dims.lanes) * WIDTH + 4u * k);
                    kept[g][k] = or_lowest(kept[g][k], index < vec4<u32>(length));
                }
                most = max(most, kept[g][k]);
            }
        }
        let top = max(max(most.x, most.y), max(most.z, most.w));
        var sums = vec4<f32>(0.0);
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let distance = kept[g][k] - top;
                let e = exp_of_negative(distance);
                sums += e;
                kept[g][k] = form_of(distance, e);
            }
        }
        own = vec2<f32>(top, rescaled(own, top) + ((sums.x + sums.y) + (sums.z + sums.w)));
    }
    let all = across_rows(own, lane);

    if groups <= dims.lanes * GROUPS {
        // The lane has kept its exponentials relative to its own maximum.
        let last = end_of(vec4<f32>(all.x), vec4<f32>(all.y), vec4<f32>(own.x));
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            let group = part + g * dims.lanes;
            if (EVEN || group < groups) && row < dims.rows {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    kept[g][k] = finished(kept[g][k], last);
                }
                store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), kept[g]);
            }
        }
    } else if row < dims.rows {
        let last = end_of(vec4<f32>(all.x), vec4<f32>(all.y), vec4<f32>(all.x));
        for (var group = part; group < groups; group += dims.lanes) {
            var results = loaded(at.y, group, length);
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let distance = scores(results[k], at.z, group, k, length) - all.x;
                results[k] = finished(form_of(distance, exp_of_negative(distance)), last);
            }
            store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), results);
        }
    }
}
