//! Layer norm and RMS norm of rows that invocations hold in registers; the operands are generated code.
//!
//! shapes    A of up to 6 axes, any strides -> Y of its shape, row-major from the start of its binding; also a residual B of A's shape, gamma and beta of a row's length, and the results A + B, mean and rstd
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end are not stored, elements past a row's end are not stored: any length from 1 to HELD * WIDTH * LANES, any rows >= 1

//#import norm_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by NormProblem::kernel
const CENTRED: bool = true; // the mean is subtracted
const QUADS: u32 = 1u;      // groups of four elements that a lane loads together
const HELD: u32 = 4u;       // such groups of a row that a lane holds
const LANES: u32 = 256u;
const WHOLE: bool = false; // rows consist of whole groups
const EVEN: bool = false; // each lane of a row holds HELD groups
//#end
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

//#import norm_within
//#import centre

//#generated operands
// The operands, and the functions that read and write them. `start` counts elements of a contiguous row, `group` groups of
// WIDTH elements along it, and k the quads of a group. Plans generate it.
//
//     fn value(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn store_total(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn scaled(v: vec4<f32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn store_statistics(row: u32, mean: f32, rstd: f32)

var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = f32;

//#slot row_lanes default shared
//#import across x=sums

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
    let row = block_index(workgroup, grid) * rows_at_once() + row_of(lane);
    let part = part_of(lane);
    let known = min(row, dims.rows - 1u);
    let at = row_places(known);
    let length = dims.length;
    let groups = (length + WIDTH - 1u) / WIDTH;

    // Distances to an element of the row stay accurate if the mean is large compared with them.
    var origin = 0.0;
    if CENTRED {
        origin = origin_of(value(at, 0u, 0u, length), length);
    }
    var own: array<vec4<f32>, HELD * QUADS>;
    var sums = vec4<f32>(0.0);
    //#unroll
    for (var h = 0u; h < HELD; h++) {
        let group = part + h * dims.lanes;
        if EVEN || group < groups {
            var v: array<vec4<f32>, QUADS>;
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                v[k] = value(at, group, k, length);
                own[h * QUADS + k] = within(v[k] - origin, k, length - group * WIDTH);
                sums += own[h * QUADS + k];
            }
            if row < dims.rows {
                store_total(known * length, group, length - group * WIDTH, v);
            }
        }
    }
    let count = f32(dims.length);
    var mean = 0.0;
    if CENTRED {
        mean = across_sums((sums.x + sums.y) + (sums.z + sums.w), lane) / count;
    }

    // The second pass, over registers: distances to the mean.
    var squares = vec4<f32>(0.0);
    //#unroll
    for (var h = 0u; h < HELD; h++) {
        let group = part + h * dims.lanes;
        if EVEN || group < groups {
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                own[h * QUADS + k] = within(own[h * QUADS + k] - mean, k, length - group * WIDTH);
                squares += own[h * QUADS + k] * own[h * QUADS + k];
            }
        }
    }
    let variance = across_sums((squares.x + squares.y) + (squares.z + squares.w), lane) / count;
    let rstd = inverseSqrt(variance + dims.eps);
    if part == 0u && row < dims.rows {
        store_statistics(row, origin + mean, rstd);
    }

    //#unroll
    for (var h = 0u; h < HELD; h++) {
        let group = part + h * dims.lanes;
        if (EVEN || group < groups) && row < dims.rows {
            var v: array<vec4<f32>, QUADS>;
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                v[k] = scaled(own[h * QUADS + k] * rstd, group, k, length);
            }
            store_y(known * length, group, length - group * WIDTH, v);
        }
    }
}
