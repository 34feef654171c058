//! Normalises channels by the statistics of their units; the operands are generated code.
//!
//! shapes    A (outer, inner, channels), any strides; moments as channel_statistics.wgsl leaves them, or means; rstd (outer, groups); gamma and beta (channels) -> Y of A's shape, row-major from the start of its binding
//! grid      one workgroup of LANES invocations per dims.lanes groups of WIDTH channels of a chunk of rows
//! subgroup  not used; neighbouring invocations have neighbouring channels
//! requires  nothing
//! edges     workgroups past the last return, channels past the end are not stored: any outer, inner, channels >= 1

//#import channel_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ChannelProblem::kernel
const QUADS: u32 = 1u; // groups of four channels that a lane loads together
const TURN: u32 = 8u;  // rows that a lane takes together
const LANES: u32 = 256u;
const RANGES: bool = false; // the rows of each lane are neighbours
const EVEN: bool = false; // all turns have TURN rows
//#end
const WIDTH: u32 = 4u * QUADS;
//#import lane_rows
alias sum = f32; // type of results before they are stored

//#generated operands
// The operands. `scale_of(unit, channel)` is the mean of a channel in two parts, rstd times gamma, and beta. Plans generate it.
//
//     fn value(outer: u32, row: u32, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn scale_of(unit: u32, channel: u32) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let part = part_of(block_index(workgroup, grid), lane);
    if part.outer >= dims.outer || part.group * WIDTH >= dims.channels {
        return;
    }
    let units = part.outer * (dims.channels / dims.of_group);
    // Of each channel: the mean in two parts, rstd times gamma, beta.
    var mean: array<vec4<f32>, QUADS>;
    var rest: array<vec4<f32>, QUADS>;
    var factor: array<vec4<f32>, QUADS>;
    var shift: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        //#unroll
        for (var i = 0u; i < 4u; i++) {
            let channel = min(part.group * WIDTH + 4u * k + i, dims.channels - 1u);
            let scale = scale_of(units + channel / dims.of_group, channel);
            mean[k][i] = scale.x;
            rest[k][i] = scale.y;
            factor[k][i] = scale.z;
            shift[k][i] = scale.w;
        }
    }
    let rows = rows_of(lane, part.first, part.end);
    for (var row = rows.first; row < rows.end; row += TURN * rows.apart) {
        //#unroll
        for (var t = 0u; t < TURN; t++) {
            let own = row + t * rows.apart;
            if EVEN || own < rows.end {
                var v: array<vec4<f32>, QUADS>;
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    v[k] = value(part.outer, own, part.group, k, dims.channels);
                    v[k] = ((v[k] - mean[k]) - rest[k]) * factor[k] + shift[k];
                }
                store_y((part.outer * dims.inner + own) * dims.channels, part.group, dims.channels - part.group * WIDTH, v);
            }
        }
    }
}
