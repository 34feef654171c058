//! The weights of a tap for the output channels of `group` and STEP channels from channel `c` of their groups:
//! `weights_of(group, at, c)`, where `at` is the index of the tap's weight for output 0 and channel 0. An element of X times them,
//! `value * weights`, are the products for the output channels.

//#variant elements
// One weight for each output channel.
alias tap_weights = vec4<f32>;

fn weights_of(group: u32, at: u32, c: u32) -> vec4<f32> {
    let places = vec4<u32>(at + c * dims.along.y) + outputs_of(group) * dims.weight.y;
    return vec4<f32>(load_weight(places.x), load_weight(places.y), load_weight(places.z), load_weight(places.w));
}

//#variant depthwise
// One weight for each output channel, which has no others.
alias tap_weights = vec4<f32>;

fn weights_of(group: u32, at: u32, c: u32) -> vec4<f32> {
    return load_quad_weight(at + 4u * group * dims.weight.y, dims.weight.y, dims.outputs - 4u * group);
}

//#variant quads
// A column of four channels for each output channel.
alias tap_weights = mat4x4<f32>;

fn weights_of(group: u32, at: u32, c: u32) -> mat4x4<f32> {
    let first = at + 4u * group * dims.weight.y;
    return mat4x4<f32>(
        weight_quad(first, c / 4u, dims.group_channels),
        weight_quad(first + dims.weight.y, c / 4u, dims.group_channels),
        weight_quad(first + 2u * dims.weight.y, c / 4u, dims.group_channels),
        weight_quad(first + 3u * dims.weight.y, c / 4u, dims.group_channels),
    );
}
