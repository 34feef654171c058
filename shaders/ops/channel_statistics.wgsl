//! The statistics of units, from the moments of their channels in chunks of rows; the use of the statistics is generated code.
//!
//! shapes    moments (outer, chunks, 3, channels) -> mean and rstd (outer, groups); the mean in two parts in the moments, at the first channel of each group in the first two rows of the first chunk
//! grid      one invocation per unit, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the last unit return: any sizes >= 1

//#import channel_dims
//#slot dims default immediate
//#import block
//#import centre

//#param  set by ChannelProblem::kernel
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u;

//#generated operands
// The moments, and `store_statistics(unit, mean, squares, count)`: `squares` is the sum of the squared distances of `count` elements
// to the mean. Plans generate it.
//
//     fn store_statistics(unit: u32, mean: f32, squares: f32, count: f32)

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
    // The chunks have almost the same number of rows. First their means are averaged, then the distances to this mean; all are
    // distances from one element.
    let first = outer * dims.chunks * 3u * dims.channels + channel;
    let origin = moments[first];
    var mean = 0.0;
    for (var chunk = 0u; chunk < dims.chunks; chunk++) {
        let rows = f32(min(dims.each, dims.inner - chunk * dims.each));
        let at = first + chunk * 3u * dims.channels;
        var sum = 0.0;
        for (var i = 0u; i < dims.of_group; i++) {
            sum += (moments[at + i] - origin) + moments[at + dims.channels + i];
        }
        mean += sum * (rows / count);
    }
    var squares = 0.0;
    for (var chunk = 0u; chunk < dims.chunks; chunk++) {
        let rows = f32(min(dims.each, dims.inner - chunk * dims.each));
        let at = first + chunk * 3u * dims.channels;
        for (var i = 0u; i < dims.of_group; i++) {
            let apart = ((moments[at + i] - origin) + moments[at + dims.channels + i]) - mean;
            squares += moments[at + 2u * dims.channels + i] + rows * apart * apart;
        }
    }
    // The norm subtracts both parts.
    let centre = centre_of(origin, mean);
    moments[first] = centre.x;
    moments[first + dims.channels] = centre.y;
    store_statistics(unit, centre.x + centre.y, squares, count);
}
