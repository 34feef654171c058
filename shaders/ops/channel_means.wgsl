//! The means that a backward pass of a norm of channels subtracts, from sums of channels in chunks of rows.
//!
//! shapes    sums (outer, chunks, 2, channels), gamma (channels) -> shifts (outer, groups, 2)
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
// The sums and `weight_of(channel)`, which is gamma. `store_gradients` stores the sums of a channel as the gradients of gamma and
// beta, if a unit has all elements of a channel. Plans generate it.
@group(0) @binding(0) var<storage, read> sums: array<f32>;
@group(0) @binding(1) var<storage, read_write> shifts: array<f32>;

fn weight_of(channel: u32) -> f32 {
    return 1.0;
}

fn store_gradients(channel: u32, of_gamma: f32, of_beta: f32) {}
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
    let first = (unit - outer * groups) * dims.of_group;
    var all = vec2<f32>(0.0);
    for (var channel = first; channel < first + dims.of_group; channel++) {
        var own = vec2<f32>(0.0);
        for (var chunk = 0u; chunk < dims.chunks; chunk++) {
            let at = (outer * dims.chunks + chunk) * 2u * dims.channels + channel;
            own += vec2<f32>(sums[at], sums[at + dims.channels]);
        }
        store_gradients(channel, own.x, own.y);
        all += own * weight_of(channel);
    }
    all = all / (f32(dims.inner) * f32(dims.of_group));
    shifts[2u * unit] = all.y;
    shifts[2u * unit + 1u] = all.x;
}
