//! The means that a backward pass of a norm of channels subtracts, from sums of channels in chunks of rows.
//!
//! shapes    sums (outer, chunks, 3, channels), gamma (channels) -> shifts (outer, groups, 3)
//! grid      one invocation per unit, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the last unit return: any sizes >= 1

//#import channel_dims
//#slot dims default immediate
//#import block
//#import left_of_mean

//#param  set by ChannelProblem::kernel
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u;

//#generated operands
// The sums and `weight_of(channel)`, which is gamma. `store_gradients` stores the sums of a channel as the gradients of gamma and
// beta if a unit has all elements of a channel. Otherwise, if `less` is not 0, it subtracts `less` from the sum for gamma at `at`.
// Plans generate it.
//
//     fn weight_of(channel: u32) -> f32
//     fn store_gradients(at: u32, channel: u32, own: vec2<f32>, less: f32)

// The sums of a channel of an outer index, over all chunks.
fn channel_sums(outer: u32, channel: u32) -> vec3<f32> {
    var own = vec3<f32>(0.0);
    for (var chunk = 0u; chunk < dims.chunks; chunk++) {
        let at = (outer * dims.chunks + chunk) * 3u * dims.channels + channel;
        own += vec3<f32>(sums[at], sums[at + dims.channels], sums[at + 2u * dims.channels]);
    }
    return own;
}

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
    let first = (unit - outer * groups) * dims.of_group;
    var all = vec3<f32>(0.0);
    for (var channel = first; channel < first + dims.of_group; channel++) {
        let own = channel_sums(outer, channel);
        all += vec3<f32>(own.xy * weight_of(channel), own.z);
    }
    all = all / (f32(dims.inner) * f32(dims.of_group));
    let left = left_of_mean(all.z);
    shifts[3u * unit] = all.y;
    shifts[3u * unit + 1u] = all.x - left * all.y;
    shifts[3u * unit + 2u] = left;
    for (var channel = first; channel < first + dims.of_group; channel++) {
        let own = channel_sums(outer, channel);
        let less = left * own.y;
        store_gradients(outer * dims.chunks * 3u * dims.channels + channel, channel, vec2<f32>(own.x - less, own.y), less);
    }
}
