//! The backward pass of layer norm and RMS norm, of rows that invocations hold in registers; the operands are generated code.
//!
//! shapes    A and B, the gradient of the result, of up to 6 axes, any strides; mean and rstd of the rows -> Y, the gradient of A, row-major from the start of its binding; partial sums for the gradients of gamma and beta, (slots, 1 or 2, length)
//! grid      dims.lanes invocations per row, LANES a workgroup; they take dims.each rows one after another
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end add nothing, elements past a row's end are not stored: any length from 1 to HELD * WIDTH * LANES, any rows >= 1

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
//#import left_of_mean

//#generated operands
// The operands, and the functions that read and write them. `start` counts elements of a contiguous row, `group` groups of
// WIDTH elements along it, and k the quads of a group. Plans generate it.
//
//     fn value(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn gradient(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn statistics(row: u32) -> vec2<f32>
//     fn scaled(v: vec4<f32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn store_partials(slot: u32, group: u32, k: u32, gamma_sums: vec4<f32>, beta_sums: vec4<f32>)

var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = vec3<f32>;

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
    let slots = rows_at_once(); // rows at a time
    let block = block_index(workgroup, grid);
    let part = part_of(lane);

    var gamma_sums: array<vec4<f32>, HELD * QUADS>;
    var beta_sums: array<vec4<f32>, HELD * QUADS>;
    for (var i = 0u; i < dims.each; i++) {
        let row = (block * dims.each + i) * slots + row_of(lane);
        let known = min(row, dims.rows - 1u);
        let at = row_places(known);
        let length = dims.length;
        let groups = (length + WIDTH - 1u) / WIDTH;
        let row_stats = statistics(known);

        var normed: array<vec4<f32>, HELD * QUADS>;
        var weighted: array<vec4<f32>, HELD * QUADS>;
        var sums = vec4<f32>(0.0);
        var products = vec4<f32>(0.0);
        var rests = vec4<f32>(0.0);
        //#unroll
        for (var h = 0u; h < HELD; h++) {
            let group = part + h * dims.lanes;
            if EVEN || group < groups {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    let left = length - group * WIDTH;
                    let v = (value(at, group, k, length) - row_stats.x) * row_stats.y;
                    // Rows past the end add nothing.
                    let zero = vec4<f32>(0.0);
                    let g = select(zero, within(gradient(at, group, k, length), k, left), row < dims.rows);
                    normed[h * QUADS + k] = select(zero, within(v, k, left), row < dims.rows);
                    weighted[h * QUADS + k] = within(scaled(g, group, k, length), k, left);
                    gamma_sums[h * QUADS + k] += g * normed[h * QUADS + k];
                    beta_sums[h * QUADS + k] += g;
                    sums += weighted[h * QUADS + k];
                    products += weighted[h * QUADS + k] * normed[h * QUADS + k];
                    rests += normed[h * QUADS + k];
                }
            }
        }
        let own = vec3<f32>(
            (sums.x + sums.y) + (sums.z + sums.w),
            (products.x + products.y) + (products.z + products.w),
            (rests.x + rests.y) + (rests.z + rests.w),
        );
        var means = across_sums(own, lane) / f32(dims.length);
        if !CENTRED {
            means.x = 0.0;
            means.z = 0.0;
        }
        let left = left_of_mean(means.z);
        means.y -= left * means.x;
        if left != 0.0 {
            // This is rare, so the gradient is read again.
            //#unroll
            for (var h = 0u; h < HELD; h++) {
                let group = part + h * dims.lanes;
                if (EVEN || group < groups) && row < dims.rows {
                    //#unroll
                    for (var k = 0u; k < QUADS; k++) {
                        gamma_sums[h * QUADS + k] -= left * within(gradient(at, group, k, length), k, length - group * WIDTH);
                    }
                }
            }
        }
        //#unroll
        for (var h = 0u; h < HELD; h++) {
            let group = part + h * dims.lanes;
            if (EVEN || group < groups) && row < dims.rows {
                var v: array<vec4<f32>, QUADS>;
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    v[k] = row_stats.y * ((weighted[h * QUADS + k] - means.x) - (normed[h * QUADS + k] - left) * means.y);
                }
                store_y(known * length, group, length - group * WIDTH, v);
            }
        }
    }

    // A slot without rows stores zeros.
    if block * dims.each * slots < dims.rows {
        let groups = (dims.length + WIDTH - 1u) / WIDTH;
        //#unroll
        for (var h = 0u; h < HELD; h++) {
            let group = part + h * dims.lanes;
            if EVEN || group < groups {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    store_partials(block * slots + row_of(lane), group, k, gamma_sums[h * QUADS + k], beta_sums[h * QUADS + k]);
                }
            }
        }
    }
}
