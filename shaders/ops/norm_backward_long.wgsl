//! The backward pass of layer norm and RMS norm, of rows that are too long for registers: they are read twice; generated code.
//!
//! shapes    as norm_backward.wgsl; partial sums are kept in memory
//! grid      one workgroup of LANES invocations per dims.each rows, which it takes one after another
//! subgroup  not used; lanes combine their values in shared memory
//! requires  nothing
//! edges     rows past the end are skipped, elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import norm_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by NormProblem::kernel
const CENTRED: bool = true; // the mean is subtracted
const QUADS: u32 = 1u;      // groups of four elements that a lane loads together
const HELD: u32 = 4u;       // such groups of a row that a lane loads in a turn
const LANES: u32 = 256u;
const WHOLE: bool = false; // rows consist of whole groups
//#end
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

//#import norm_within
//#import left_of_mean

//#generated operands
// As in norm_backward.wgsl, and `add_partials`, which adds to the slot's partial sums, or sets them at the slot's first
// row.
//
//     fn value(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn gradient(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn statistics(row: u32) -> vec2<f32>
//     fn scaled(v: vec4<f32>, group: u32, k: u32, length: u32) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn add_partials(slot: u32, group: u32, k: u32, gamma_sums: vec4<f32>, beta_sums: vec4<f32>, is_first: bool)

var<workgroup> parts: array<vec3<f32>, LANES>; // sums of each lane

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let block = block_index(workgroup, grid);
    let length = dims.length;
    let groups = (length + WIDTH - 1u) / WIDTH;
    let first = block * dims.each;
    for (var row = first; row < min(first + dims.each, dims.rows); row++) {
        let at = row_places(row);
        let row_stats = statistics(row);
        var sums = vec4<f32>(0.0);
        var products = vec4<f32>(0.0);
        var rests = vec4<f32>(0.0);
        for (var start = lane; start < groups; start += LANES * HELD) {
            //#unroll
            for (var h = 0u; h < HELD; h++) {
                let group = start + h * LANES;
                if group < groups {
                    //#unroll
                    for (var k = 0u; k < QUADS; k++) {
                        let left = length - group * WIDTH;
                        let normed = (value(at, group, k, length) - row_stats.x) * row_stats.y;
                        let g = gradient(at, group, k, length);
                        let weighted = within(scaled(g, group, k, length), k, left);
                        add_partials(block, group, k, g * normed, g, row == first);
                        sums += weighted;
                        products += weighted * within(normed, k, left);
                        rests += within(normed, k, left);
                    }
                }
            }
        }
        parts[lane] = vec3<f32>(
            (sums.x + sums.y) + (sums.z + sums.w),
            (products.x + products.y) + (products.z + products.w),
            (rests.x + rests.y) + (rests.z + rests.w),
        );
        workgroupBarrier();
        for (var width = LANES / 2u; width > 0u; width /= 2u) {
            if lane < width {
                parts[lane] += parts[lane + width];
            }
            workgroupBarrier();
        }
        var means = parts[0] / f32(length);
        if !CENTRED {
            means.x = 0.0;
            means.z = 0.0;
        }
        let off = left_of_mean(means.z);
        means.y -= off * means.x;
        workgroupBarrier();

        for (var group = lane; group < groups; group += LANES) {
            var v: array<vec4<f32>, QUADS>;
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let normed = (value(at, group, k, length) - row_stats.x) * row_stats.y - off;
                let g = gradient(at, group, k, length);
                if off != 0.0 {
                    add_partials(block, group, k, -off * g, vec4<f32>(0.0), false);
                }
                let weighted = scaled(g, group, k, length);
                v[k] = row_stats.y * ((weighted - means.x) - normed * means.y);
            }
            store_y(row * length, group, length - group * WIDTH, v);
        }
    }
}
