//! The statistics of units, from the moments of their channels in chunks of rows; what is done with them is generated code.
//!
//! shapes    moments (outer, chunks, 2, channels) -> mean and rstd (outer, groups)
//! grid      one invocation per unit, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the last unit return: any sizes >= 1

//#import channel_dims
//#slot dims default immediate
//#import block

//#param  set by ChannelProblem::kernel
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u;

//#generated operands
// The moments, and `store_statistics(unit, mean, squares, count)`: `squares` is the sum of the squared distances of `count` elements
// to the mean. Plans generate it.
@group(0) @binding(0) var<storage, read> moments: array<f32>;
@group(0) @binding(1) var<storage, read_write> means: array<f32>;
@group(0) @binding(2) var<storage, read_write> rstds: array<f32>;

fn store_statistics(unit: u32, mean: f32, squares: f32, count: f32) {
    means[unit] = mean;
    rstds[unit] = inverseSqrt(squares / count + dims.eps);
}
//#end

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    let groups = dims.channels / dims.of_group;
    if unit >= dims.outer * groups {
        return;
    }
    let outer = unit / groups;
    let channel = (unit - outer * groups) * dims.of_group;
    let count = f32(dims.inner) * f32(dims.of_group);
    // The chunks have almost the same number of rows: their means are averaged, then distances to that mean.
    var mean = 0.0;
    for (var chunk = 0u; chunk < dims.chunks; chunk++) {
        let rows = f32(min(dims.each, dims.inner - chunk * dims.each));
        let at = (outer * dims.chunks + chunk) * 2u * dims.channels + channel;
        var sum = 0.0;
        for (var i = 0u; i < dims.of_group; i++) {
            sum += moments[at + i];
        }
        mean += sum * (rows / count);
    }
    var squares = 0.0;
    for (var chunk = 0u; chunk < dims.chunks; chunk++) {
        let rows = f32(min(dims.each, dims.inner - chunk * dims.each));
        let at = (outer * dims.chunks + chunk) * 2u * dims.channels + channel;
        for (var i = 0u; i < dims.of_group; i++) {
            let apart = moments[at + i] - mean;
            squares += moments[at + dims.channels + i] + rows * apart * apart;
        }
    }
    store_statistics(unit, mean, squares, count);
}
