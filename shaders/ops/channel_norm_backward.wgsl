//! The gradient of the operand of a norm of channels; the operands are generated code.
//!
//! shapes    A and B, the gradient of the result, (outer, inner, channels), any strides; mean and rstd (outer, groups), shifts (outer, groups, 3), gamma (channels) -> Y of A's shape, row-major from the start of its binding
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
// The operands. `statistics(unit, channel)` is the mean and rstd, and `weight_of(channel)` is gamma. `shifts_of(unit)`
// has three numbers: one to subtract from the gradient, the factor of the normalised element, and one to subtract from
// this element. Plans generate it.
//
//     fn value(outer: u32, row: u32, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn gradient(outer: u32, row: u32, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn statistics(unit: u32, channel: u32) -> vec2<f32>
//     fn shifts_of(unit: u32) -> vec3<f32>
//     fn weight_of(channel: u32) -> f32
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
    var mean: array<vec4<f32>, QUADS>;
    var rstd: array<vec4<f32>, QUADS>;
    var weight: array<vec4<f32>, QUADS>;
    var shift: array<vec4<f32>, QUADS>;
    var slope: array<vec4<f32>, QUADS>;
    var left: array<vec4<f32>, QUADS>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        //#unroll
        for (var i = 0u; i < 4u; i++) {
            let channel = min(part.group * WIDTH + 4u * k + i, dims.channels - 1u);
            let unit = units + channel / dims.of_group;
            let channel_stats = statistics(unit, channel);
            let less = shifts_of(unit);
            mean[k][i] = channel_stats.x;
            rstd[k][i] = channel_stats.y;
            weight[k][i] = weight_of(channel);
            shift[k][i] = less.x;
            slope[k][i] = less.y;
            left[k][i] = less.z;
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
                    let normed = (value(part.outer, own, part.group, k, dims.channels) - mean[k]) * rstd[k];
                    let g = gradient(part.outer, own, part.group, k, dims.channels) * weight[k];
                    v[k] = rstd[k] * ((g - shift[k]) - (normed - left[k]) * slope[k]);
                }
                store_y((part.outer * dims.inner + own) * dims.channels, part.group, dims.channels - part.group * WIDTH, v);
            }
        }
    }
}
