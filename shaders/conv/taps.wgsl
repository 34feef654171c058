//! The products of a tap. Each of four output channels, those of `group`, sums over the channels of its group, STEP at a time from
//! channel `c` of the group: `value * weights` are the sums for a pixel. `channels` are the first channels of the groups.
//! `at` is the index of the pixel's first channel, or of the tap's weight for output and channel 0.

//#variant elements
// One channel at a time, any groups.
//#param  set by ConvTile::kernel
const ONE_GROUP: bool = true; // the four output channels read the same channels
//#end
const STEP: u32 = 1u;
alias tap_weights = vec4<f32>;

// Four output channels. Past the end the last one is taken again.
fn outputs_of(group: u32) -> vec4<u32> {
    return min(vec4<u32>(4u * group) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.outputs - 1u));
}

fn first_channels(group: u32) -> vec4<u32> {
    return outputs_of(group) / dims.group_outputs * dims.group_channels;
}

fn value_of(at: u32, channels: vec4<u32>, c: u32) -> vec4<f32> {
    let places = vec4<u32>(at) + (channels + vec4<u32>(c)) * dims.along.x;
    if ONE_GROUP {
        return vec4<f32>(load_x(places.x));
    }
    return vec4<f32>(load_x(places.x), load_x(places.y), load_x(places.z), load_x(places.w));
}

fn weights_of(group: u32, at: u32, c: u32) -> vec4<f32> {
    let places = vec4<u32>(at + c * dims.along.y) + outputs_of(group) * dims.weight.y;
    return vec4<f32>(load_weight(places.x), load_weight(places.y), load_weight(places.z), load_weight(places.w));
}

//#variant depthwise
// Each output channel reads the channel of its number.
const STEP: u32 = 1u;
alias tap_weights = vec4<f32>;

fn first_channels(group: u32) -> vec4<u32> {
    return vec4<u32>(group);
}

fn value_of(at: u32, channels: vec4<u32>, c: u32) -> vec4<f32> {
    return x_quad(at, channels.x, dims.outputs);
}

fn weights_of(group: u32, at: u32, c: u32) -> vec4<f32> {
    return load_quad_weight(at + 4u * group * dims.weight.y, dims.weight.y, dims.outputs - 4u * group);
}

//#variant quads
// Four channels at a time: groups have a multiple of four channels, and of four output channels.
const STEP: u32 = 4u;
alias tap_weights = mat4x4<f32>;

fn first_channels(group: u32) -> vec4<u32> {
    return vec4<u32>(4u * group / dims.group_outputs * dims.group_channels);
}

fn value_of(at: u32, channels: vec4<u32>, c: u32) -> vec4<f32> {
    return x_quad(at + channels.x * dims.along.x, c / 4u, dims.group_channels);
}

// A column for each output channel.
fn weights_of(group: u32, at: u32, c: u32) -> mat4x4<f32> {
    let first = at + 4u * group * dims.weight.y;
    return mat4x4<f32>(
        weight_quad(first, c / 4u, dims.group_channels),
        weight_quad(first + dims.weight.y, c / 4u, dims.group_channels),
        weight_quad(first + 2u * dims.weight.y, c / 4u, dims.group_channels),
        weight_quad(first + 3u * dims.weight.y, c / 4u, dims.group_channels),
    );
}
