//! Normalises channels by the statistics of their units, which the same workgroup computes first; the operands are generated code.
//!
//! shapes    A (outer, inner, channels), any strides; gamma and beta (channels) -> Y of A's shape, row-major from the start of its binding; mean and rstd (outer, groups)
//! grid      one workgroup of LANES invocations per dims.span channels of an outer index: one unit or several
//! subgroup  not used; neighbouring invocations have neighbouring channels, and add their sums in shared memory
//! requires  nothing
//! edges     workgroups past the last return, channels past the end are not stored: any outer, inner, channels >= 1

//#import channel_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ChannelProblem::whole_kernel
const QUADS: u32 = 1u; // groups of four channels that a lane loads together
const TURN: u32 = 8u;  // rows that a lane holds together
const LANES: u32 = 256u;
const RANGES: bool = false; // the rows of each lane are neighbours
const WHOLE: bool = false; // the channels of a workgroup consist of whole groups
const EVEN: bool = false; // all turns have TURN rows
//#end
const WIDTH: u32 = 4u * QUADS;
//#import lane_rows
alias sum = f32; // type of results before they are stored

//#import norm_within
//#import centre

//#generated operands
// The operands. `value(start, group, k, length)` is quad `k` of a group of WIDTH channels, of which `length` begin at `start`;
// `store_statistics(unit, mean, squares, count)` gets the sum of the squared distances of `count` elements to the mean. Plans generate it.
//
//     fn value(start: u32, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn weight_of(channel: u32) -> f32
//     fn shift_of(channel: u32) -> f32
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn store_statistics(unit: u32, mean: f32, squares: f32, count: f32)

// Sums of each lane: the first quad of all lanes, then the second.
var<workgroup> parts: array<vec4<f32>, QUADS * LANES>;

// Adds the sums of the lanes: those of the same channels, or all if the channels are one unit.
fn add_lanes(lane: u32) {
    let apart = select(dims.lanes, 1u, dims.span == dims.of_group);
    workgroupBarrier();
    var left = LANES / dims.lanes * dims.lanes / apart;
    while left > 1u {
        let half = (left + 1u) / 2u;
        if lane < (left - half) * apart {
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                parts[k * LANES + lane] += parts[k * LANES + lane + half * apart];
            }
        }
        workgroupBarrier();
        left = half;
    }
}

// The sum of a unit after `add_lanes`. `channel` is one of its channels, counted from the workgroup's first.
fn unit_sum(channel: u32) -> f32 {
    var all = 0.0;
    if dims.span == dims.of_group {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let own = parts[k * LANES];
            all += (own.x + own.y) + (own.z + own.w);
        }
        return all;
    }
    let first = channel - channel % dims.of_group;
    for (var at = first; at < first + dims.of_group; at++) {
        all += parts[at % WIDTH / 4u * LANES + at / WIDTH][at % 4u];
    }
    return all;
}

// The first elements of the units of the channels of quad k of a group.
fn first_of_units(start: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    if dims.of_group == 1u {
        return value(start, group, k, length);
    }
    if dims.span == dims.of_group {
        return vec4<f32>(value(start, 0u, 0u, length).x);
    }
    var all: vec4<f32>;
    //#unroll
    for (var i = 0u; i < 4u; i++) {
        let channel = min(group * WIDTH + 4u * k + i, length - 1u);
        let first = channel - channel % dims.of_group;
        let v = value(start, first / WIDTH, first % WIDTH / 4u, length);
        all[i] = v[first % 4u];
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
    let block = block_index(workgroup, grid);
    let across = (dims.channels + dims.span - 1u) / dims.span;
    let outer = block / across;
    if outer >= dims.outer {
        return;
    }
    let first = (block - outer * across) * dims.span;
    let length = min(dims.span, dims.channels - first);
    let groups = (length + WIDTH - 1u) / WIDTH;
    let at_once = LANES / dims.lanes; // rows
    let own_group = lane % dims.lanes;
    let rows = rows_of(lane, 0u, dims.inner);
    let is_held = dims.inner <= at_once * TURN && groups <= dims.lanes;
    let start = dims.a.x + outer * dims.a.y + first * dims.a.w;

    // Distances to the first element of a unit stay accurate if the mean is large compared with them.
    var origin: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        origin[k] = first_of_units(start, min(own_group, groups - 1u), k, length);
    }

    // For the lane's elements: their number, the sums of these distances, and the sums of their squared distances to their
    // means.
    var own: array<vec4<f32>, TURN * QUADS>;
    var counts: array<vec4<f32>, QUADS>;
    var sums: array<vec4<f32>, QUADS>;
    var squares: array<vec4<f32>, QUADS>;
    for (var group = own_group; group < groups; group += dims.lanes) {
        let left = length - group * WIDTH;
        for (var row = rows.first; row < rows.end; row += TURN * rows.apart) {
            var added: array<vec4<f32>, QUADS>;
            var number = 0.0;
            //#unroll
            for (var t = 0u; t < TURN; t++) {
                if EVEN || row + t * rows.apart < rows.end {
                    number += 1.0;
                    //#unroll
                    for (var k = 0u; k < QUADS; k++) {
                        let v = value(start + (row + t * rows.apart) * dims.a.z, group, k, length);
                        own[t * QUADS + k] = within(v - origin[k], k, left);
                        added[k] += own[t * QUADS + k];
                    }
                }
            }
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let middle = added[k] / number;
                var off = vec4<f32>(0.0);
                //#unroll
                for (var t = 0u; t < TURN; t++) {
                    if EVEN || row + t * rows.apart < rows.end {
                        off += (own[t * QUADS + k] - middle) * (own[t * QUADS + k] - middle);
                    }
                }
                // Both sets of rows together (Chan, Golub and LeVeque, 1979).
                let more = within(vec4<f32>(number), k, left);
                let all = max(counts[k] + more, vec4<f32>(1.0));
                let apart = middle - sums[k] / max(counts[k], vec4<f32>(1.0));
                squares[k] += off + apart * (counts[k] * more / all) * apart;
                sums[k] += added[k];
                counts[k] += more;
            }
        }
    }

    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        parts[k * LANES + lane] = sums[k];
    }
    add_lanes(lane);
    let count = f32(dims.inner) * f32(dims.of_group);
    var mean: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        //#unroll
        for (var i = 0u; i < 4u; i++) {
            let channel = min(own_group * WIDTH + 4u * k + i, length - 1u);
            mean[k][i] = unit_sum(channel) / count;
        }
    }
    workgroupBarrier();
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        let apart = sums[k] / max(counts[k], vec4<f32>(1.0)) - mean[k];
        parts[k * LANES + lane] = squares[k] + apart * counts[k] * apart;
    }
    add_lanes(lane);
    // The number that is subtracted from elements that are read again, and the one that is then subtracted from all
    // elements.
    var centre: array<vec4<f32>, QUADS>;
    var rest: array<vec4<f32>, QUADS>;
    var rstd: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        //#unroll
        for (var i = 0u; i < 4u; i++) {
            let channel = min(own_group * WIDTH + 4u * k + i, length - 1u);
            let unit_squares = unit_sum(channel);
            rstd[k][i] = inverseSqrt(unit_squares / count + dims.eps);
            let both = centre_of(origin[k][i], mean[k][i]);
            centre[k][i] = both.x;
            rest[k][i] = select(both.y, mean[k][i], is_held);
            if lane < dims.lanes && own_group * WIDTH + 4u * k + i < length && channel % dims.of_group == 0u {
                let unit = (outer * dims.channels + first + channel) / dims.of_group;
                store_statistics(unit, origin[k][i] + mean[k][i], unit_squares, count);
            }
        }
    }

    for (var group = own_group; group < groups; group += dims.lanes) {
        let left = length - group * WIDTH;
        var factor: array<vec4<f32>, QUADS>;
        var shift: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            //#unroll
            for (var i = 0u; i < 4u; i++) {
                let channel = first + min(group * WIDTH + 4u * k + i, length - 1u);
                factor[k][i] = rstd[k][i] * weight_of(channel);
                shift[k][i] = shift_of(channel);
            }
        }
        for (var row = rows.first; row < rows.end; row += TURN * rows.apart) {
            //#unroll
            for (var t = 0u; t < TURN; t++) {
                if EVEN || row + t * rows.apart < rows.end {
                    var v: array<vec4<f32>, QUADS>;
                    //#unroll
                    for (var k = 0u; k < QUADS; k++) {
                        v[k] = own[t * QUADS + k];
                        if !is_held {
                            v[k] = value(start + (row + t * rows.apart) * dims.a.z, group, k, length) - centre[k];
                        }
                        v[k] = (v[k] - rest[k]) * factor[k] + shift[k];
                    }
                    let to = (outer * dims.inner + row + t * rows.apart) * dims.channels + first;
                    store_y(to, group, left, v);
                }
            }
        }
    }
}
