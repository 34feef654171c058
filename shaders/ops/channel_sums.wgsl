//! Sums for the gradients of gamma and beta and of the normalised elements, per channel and chunk of rows; the operands are generated code.
//!
//! shapes    A and B (outer, inner, channels), any strides; mean and rstd (outer, groups) -> sums (outer, chunks, 3, channels)
//! grid      one workgroup of LANES invocations per dims.lanes groups of WIDTH channels of a chunk
//! subgroup  not used; neighbouring invocations read neighbouring channels, and combine rows in shared memory
//! requires  nothing
//! edges     workgroups past the last store nothing, channels past the end are not read: any outer, inner, channels >= 1

//#import channel_dims
//#slot dims default immediate
//#import block

//#param  set by ChannelProblem::kernel
const QUADS: u32 = 1u; // groups of four channels that a lane loads together
const TURN: u32 = 8u;  // rows that a lane takes together
const LANES: u32 = 256u;
const RANGES: bool = false; // the rows of each lane are neighbours
const EVEN: bool = false; // all turns have TURN rows
//#end
const WIDTH: u32 = 4u * QUADS;
//#import lane_rows

//#generated operands
// The operands. `statistics(unit, channel)` is the mean and rstd. Plans generate it.
//
//     fn value(outer: u32, row: u32, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn gradient(outer: u32, row: u32, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn statistics(unit: u32, channel: u32) -> vec2<f32>

var<workgroup> parts: array<vec4<f32>, 3u * LANES>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let part = part_of(block_index(workgroup, grid), lane);
    let at_once = LANES / dims.lanes; // rows
    let units = part.outer * (dims.channels / dims.of_group);

    var gamma_sums: array<vec4<f32>, QUADS>;
    var beta_sums: array<vec4<f32>, QUADS>;
    var normed_sums: array<vec4<f32>, QUADS>;
    if part.outer < dims.outer && part.group * WIDTH < dims.channels {
        var mean: array<vec4<f32>, QUADS>;
        var rstd: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            //#unroll
            for (var i = 0u; i < 4u; i++) {
                let channel = min(part.group * WIDTH + 4u * k + i, dims.channels - 1u);
                let channel_stats = statistics(units + channel / dims.of_group, channel);
                mean[k][i] = channel_stats.x;
                rstd[k][i] = channel_stats.y;
            }
        }
        let rows = rows_of(lane, part.first, part.end);
        for (var row = rows.first; row < rows.end; row += TURN * rows.apart) {
            //#unroll
            for (var t = 0u; t < TURN; t++) {
                let own = row + t * rows.apart;
                if EVEN || own < rows.end {
                    //#unroll
                    for (var k = 0u; k < QUADS; k++) {
                        let normed = (value(part.outer, own, part.group, k, dims.channels) - mean[k]) * rstd[k];
                        let g = gradient(part.outer, own, part.group, k, dims.channels);
                        gamma_sums[k] += g * normed;
                        beta_sums[k] += g;
                        normed_sums[k] += normed;
                    }
                }
            }
        }
    }

    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        parts[lane] = gamma_sums[k];
        parts[LANES + lane] = beta_sums[k];
        parts[2u * LANES + lane] = normed_sums[k];
        workgroupBarrier();
        for (var rows = at_once / 2u; rows > 0u; rows /= 2u) {
            if lane < rows * dims.lanes {
                parts[lane] += parts[lane + rows * dims.lanes];
                parts[LANES + lane] += parts[LANES + lane + rows * dims.lanes];
                parts[2u * LANES + lane] += parts[2u * LANES + lane + rows * dims.lanes];
            }
            workgroupBarrier();
        }
        let col = part.group * WIDTH + 4u * k;
        if lane < dims.lanes && part.outer < dims.outer && col < dims.channels {
            let at = (part.outer * dims.chunks + part.chunk) * 3u * dims.channels + col;
            //#unroll
            for (var i = 0u; i < 4u; i++) {
                if col + i < dims.channels {
                    sums[at + i] = parts[lane][i];
                    sums[at + dims.channels + i] = parts[LANES + lane][i];
                    sums[at + 2u * dims.channels + i] = parts[2u * LANES + lane][i];
                }
            }
        }
        workgroupBarrier();
    }
}
