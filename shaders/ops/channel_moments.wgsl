//! Moments of channels of every chunk of rows: an element, the distance from it to the mean, and the sum of squared distances to the mean; the operand is generated code.
//!
//! shapes    A (outer, inner, channels), any strides -> moments (outer, chunks, 3, channels)
//! grid      one workgroup of LANES invocations per dims.lanes groups of WIDTH channels of a chunk
//! subgroup  not used; neighbouring invocations read neighbouring channels, and combine rows in shared memory
//! requires  nothing
//! edges     workgroups past the last return, channels past the end are not read: any outer, inner, channels >= 1

//#import channel_dims
//#slot dims default immediate
//#import block

//#param  set by ChannelProblem::kernel
const QUADS: u32 = 1u; // groups of four channels that a lane loads together
const TURN: u32 = 8u;  // rows that a lane holds together
const LANES: u32 = 256u;
const RANGES: bool = false; // the rows of each lane are neighbours
const EVEN: bool = false; // all turns have TURN rows
//#end
const WIDTH: u32 = 4u * QUADS;
//#import lane_rows

//#generated operands
// The operand, and `value(outer, row, group, k, length)`: quad `k` of a group of WIDTH channels of a row, of which there are
// `length`. Plans generate it.
//
//     fn value(outer: u32, row: u32, group: u32, k: u32, length: u32) -> vec4<f32>

var<workgroup> origins: array<vec4<f32>, LANES>;
var<workgroup> means: array<vec4<f32>, LANES>; // distances from the origins
var<workgroup> squares: array<vec4<f32>, LANES>;
var<workgroup> counts: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let part = part_of(block_index(workgroup, grid), lane);
    let at_once = LANES / dims.lanes; // rows
    let is_within = part.outer < dims.outer && part.group * WIDTH < dims.channels;

    // Distances to an element stay accurate if the mean is large compared with them.
    var count = 0.0;
    var origin: array<vec4<f32>, QUADS>;
    var mean: array<vec4<f32>, QUADS>;
    var square: array<vec4<f32>, QUADS>;
    let rows = rows_of(lane, part.first, part.end);
    if is_within {
        for (var row = rows.first; row < rows.end; row += TURN * rows.apart) {
            // For the rows in registers: the distances to the first element, their mean, then the distances to this
            // mean.
            var own: array<vec4<f32>, TURN * QUADS>;
            var sums: array<vec4<f32>, QUADS>;
            var number = 0.0;
            //#unroll
            for (var t = 0u; t < TURN; t++) {
                if EVEN || row + t * rows.apart < rows.end {
                    number += 1.0;
                    //#unroll
                    for (var k = 0u; k < QUADS; k++) {
                        let v = value(part.outer, row + t * rows.apart, part.group, k, dims.channels);
                        if t == 0u && count == 0.0 {
                            origin[k] = v;
                        }
                        own[t * QUADS + k] = v - origin[k];
                        sums[k] += own[t * QUADS + k];
                    }
                }
            }
            let share = number / (count + number);
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let middle = sums[k] / number;
                var off = vec4<f32>(0.0);
                //#unroll
                for (var t = 0u; t < TURN; t++) {
                    if EVEN || row + t * rows.apart < rows.end {
                        off += (own[t * QUADS + k] - middle) * (own[t * QUADS + k] - middle);
                    }
                }
                // Both sets of rows together (Chan, Golub and LeVeque, 1979).
                let apart = middle - mean[k];
                mean[k] += apart * share;
                square[k] += off + apart * (count * share) * apart;
            }
            count += number;
        }
    }

    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        origins[lane] = origin[k];
        means[lane] = mean[k];
        squares[lane] = square[k];
        counts[lane] = count;
        workgroupBarrier();
        for (var rows = at_once / 2u; rows > 0u; rows /= 2u) {
            if lane < rows * dims.lanes {
                let other = lane + rows * dims.lanes;
                let all = counts[lane] + counts[other];
                let share = counts[other] / max(all, 1.0);
                let apart = (origins[other] - origins[lane]) + (means[other] - means[lane]);
                means[lane] += apart * share;
                squares[lane] += squares[other] + apart * (counts[lane] * share) * apart;
                counts[lane] = all;
            }
            workgroupBarrier();
        }
        let col = part.group * WIDTH + 4u * k;
        if lane < dims.lanes && part.outer < dims.outer && col < dims.channels {
            let at = (part.outer * dims.chunks + part.chunk) * 3u * dims.channels + col;
            //#unroll
            for (var i = 0u; i < 4u; i++) {
                if col + i < dims.channels {
                    moments[at + i] = origins[lane][i];
                    moments[at + dims.channels + i] = means[lane][i];
                    moments[at + 2u * dims.channels + i] = squares[lane][i];
                }
            }
        }
        workgroupBarrier();
    }
}
