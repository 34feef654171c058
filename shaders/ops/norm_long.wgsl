//! Layer norm and RMS norm of rows that are too long for registers: they are read twice; the operands are generated code.
//!
//! shapes    as norm.wgsl
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end are not stored, elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import norm_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by NormProblem::kernel
const CENTRED: bool = true; // the mean is subtracted
const QUADS: u32 = 1u;      // groups of four elements that a lane loads together
const HELD: u32 = 4u;       // such groups of a row that a lane holds together
const LANES: u32 = 256u;
const WHOLE: bool = false; // rows consist of whole groups
//#end
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

//#import norm_within
//#import centre

//#generated operands
// As in norm.wgsl.
//
//     fn value(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn store_total(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn scaled(v: vec4<f32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn store_statistics(row: u32, mean: f32, rstd: f32)

var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
// The state of some elements: their number, one of them, the distance from that one to their mean, and the sum of their squared
// distances to the mean.
alias held = vec4<f32>;

//#slot row_lanes default shared
//#import across x=moments

// The parts of the sum `origin + off`: its first 23 bits, and the rest. So joining means rounds distances between means, not a
// distance to an element, and adding to such a sum loses no digits to its size. NOTE: bits are cut off, because compilers may take
// the rest of a rounded sum for 0: they may simplify (a + b) - a to b.
fn settled(origin: f32, off: f32) -> vec2<f32> {
    let high = bitcast<f32>(bitcast<u32>(origin + off) & 0xfffffffeu);
    return vec2<f32>(high, (origin - high) + off);
}

// The state of two sets of elements together (Chan, Golub and LeVeque, 1979).
fn joined_moments(x: held, y: held) -> held {
    let count = x.x + y.x;
    let share = y.x / max(count, 1.0);
    let apart = (y.y - x.y) + (y.z - x.z);
    return select(vec4<f32>(count, x.y, x.z + apart * share, (x.w + y.w) + (x.x * share * apart) * apart), y, x.x == 0.0);
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
    let known = min(row, dims.rows - 1u); // invocations past the end read the last row
    let at = row_places(known);
    let length = dims.length;
    let groups = (length + WIDTH - 1u) / WIDTH;

    var all = vec4<f32>(0.0);
    if CENTRED && part < groups {
        all.y = origin_of(value(at, part, 0u, length), length - part * WIDTH);
    }
    var rest = 0.0; // of the sum of squared distances
    for (var first = part; first < groups; first += dims.lanes * HELD) {
        // For the groups in registers: the distances to one of the lane's first elements, their mean, then the distances to this
        // mean.
        var own: array<vec4<f32>, HELD * QUADS>;
        var sums = vec4<f32>(0.0);
        var count = 0u;
        //#unroll
        for (var h = 0u; h < HELD; h++) {
            let group = first + h * dims.lanes;
            if group < groups {
                let left = length - group * WIDTH;
                count += min(left, WIDTH);
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    own[h * QUADS + k] = within(value(at, group, k, length) - all.y, k, left);
                    sums += own[h * QUADS + k];
                }
            }
        }
        var mean = 0.0;
        if CENTRED {
            mean = ((sums.x + sums.y) + (sums.z + sums.w)) / f32(count);
        }
        var squares = vec4<f32>(0.0);
        //#unroll
        for (var h = 0u; h < HELD; h++) {
            let group = first + h * dims.lanes;
            if group < groups {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    let off = within(own[h * QUADS + k] - mean, k, length - group * WIDTH);
                    squares += off * off;
                }
            }
        }
        let total = (squares.x + squares.y) + (squares.z + squares.w);
        let more = joined_moments(vec4<f32>(all.xyz, 0.0), vec4<f32>(f32(count), settled(all.y, mean), total));
        let square = settled(all.w, rest + more.w);
        all = vec4<f32>(more.xyz, square.x);
        rest = select(square.y, 0.0, square.x > 3.0e38); // of a sum that is infinite
    }
    all.w += rest;
    all = across_moments(all, lane);
    if row >= dims.rows {
        return;
    }
    let centre = centre_of(all.y, all.z);
    let rstd = inverseSqrt(all.w / f32(length) + dims.eps);
    if part == 0u {
        store_statistics(row, centre.x + centre.y, rstd);
    }

    for (var group = part; group < groups; group += dims.lanes) {
        var v: array<vec4<f32>, QUADS>;
        var normed: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            v[k] = value(at, group, k, length);
            normed[k] = scaled(((v[k] - centre.x) - centre.y) * rstd, group, k, length);
        }
        store_total(row * length, group, length - group * WIDTH, v);
        store_y(row * length, group, length - group * WIDTH, normed);
    }
}
