//! The products of a tap for the gradient of X: four channels, those of `group`, each sum over the outputs of their group, STEP at a
//! time from output `c` of the group. `weights * value` are the products, where `value_of(at, outputs, c)` are elements of the
//! gradient of Y, and `at` is the index of the pixel's first output. `weights_of(group, outputs, at, c)` are weights, and `at` is the
//! index of the tap's weight for output 0 and channel 0. `outputs` are those that `first_outputs(group)` returns.

//#variant elements
// One output at a time, any groups.
//#param  set by ChannelReads::bind
const ONE_GROUP: bool = true; // the outputs of the four channels are the same
//#end
const STEP: u32 = 1u;
alias tap_weights = vec4<f32>;

// Four channels. Past the end the last one is taken again.
fn channels_of(group: u32) -> vec4<u32> {
    return min(vec4<u32>(4u * group) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.channels - 1u));
}

// The first output of each channel's group.
fn first_outputs(group: u32) -> vec4<u32> {
    return channels_of(group) / dims.group_channels * dims.group_outputs;
}

fn value_of(at: u32, outputs: vec4<u32>, c: u32) -> vec4<f32> {
    let places = vec4<u32>(at) + (outputs + vec4<u32>(c)) * dims.along.z;
    if ONE_GROUP {
        return vec4<f32>(load_grad(places.x));
    }
    return vec4<f32>(load_grad(places.x), load_grad(places.y), load_grad(places.z), load_grad(places.w));
}

fn weights_of(group: u32, outputs: vec4<u32>, at: u32, c: u32) -> vec4<f32> {
    let within = channels_of(group) % dims.group_channels;
    let places = vec4<u32>(at) + (outputs + vec4<u32>(c)) * dims.weight.y + within * dims.along.y;
    return vec4<f32>(load_weight(places.x), load_weight(places.y), load_weight(places.z), load_weight(places.w));
}

//#variant depthwise
// Each channel has the output of its number.
const STEP: u32 = 1u;
alias tap_weights = vec4<f32>;

fn first_outputs(group: u32) -> vec4<u32> {
    return vec4<u32>(group);
}

fn value_of(at: u32, outputs: vec4<u32>, c: u32) -> vec4<f32> {
    return grad_quad(at, outputs.x, dims.channels);
}

fn weights_of(group: u32, outputs: vec4<u32>, at: u32, c: u32) -> vec4<f32> {
    return load_quad_weight(at + 4u * group * dims.weight.y, dims.weight.y, dims.channels - 4u * group);
}

//#variant quads
// Four outputs at a time: groups have a multiple of four channels, and of four outputs.
const STEP: u32 = 4u;
alias tap_weights = mat4x4<f32>;

// The first output of the group, and the quad of its channels.
fn first_outputs(group: u32) -> vec4<u32> {
    let group_index = 4u * group / dims.group_channels;
    return vec4<u32>(group_index * dims.group_outputs, group - group_index * (dims.group_channels / 4u), 0u, 0u);
}

fn value_of(at: u32, outputs: vec4<u32>, c: u32) -> vec4<f32> {
    return grad_quad(at + outputs.x * dims.along.z, c / 4u, dims.group_outputs);
}

// A column of four channels for each output.
fn weights_of(group: u32, outputs: vec4<u32>, at: u32, c: u32) -> mat4x4<f32> {
    let first = at + (outputs.x + c) * dims.weight.y;
    return mat4x4<f32>(
        weight_quad(first, outputs.y, dims.group_channels),
        weight_quad(first + dims.weight.y, outputs.y, dims.group_channels),
        weight_quad(first + 2u * dims.weight.y, outputs.y, dims.group_channels),
        weight_quad(first + 3u * dims.weight.y, outputs.y, dims.group_channels),
    );
}
