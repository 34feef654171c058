//! The channels of X that four output channels read, those of `group`: STEP channels at a time from channel `c` of their groups.
//! `first_channels(group)` are the first channels of these groups, and `value_of(at, channels, c)` the elements, where `at` is the
//! index of the pixel's first channel.

//#variant elements
// One channel at a time, any groups.
//#param  set by ChannelReads::bind
const ONE_GROUP: bool = true; // the four output channels read the same channels
//#end
const STEP: u32 = 1u;

// Four output channels. Past the end the last one is taken again.
fn outputs_of(group: u32) -> vec4<u32> {
    return min(vec4<u32>(4u * group) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.outputs - 1u));
}

fn first_channels(group: u32) -> vec4<u32> {
    return outputs_of(group) / dims.group_outputs * dims.group_channels;
}

// For each output channel.
fn value_of(at: u32, channels: vec4<u32>, c: u32) -> vec4<f32> {
    let places = vec4<u32>(at) + (channels + vec4<u32>(c)) * dims.along.x;
    if ONE_GROUP {
        return vec4<f32>(load_x(places.x));
    }
    return vec4<f32>(load_x(places.x), load_x(places.y), load_x(places.z), load_x(places.w));
}

//#variant depthwise
// Each output channel reads the channel of its number.
const STEP: u32 = 1u;

fn first_channels(group: u32) -> vec4<u32> {
    return vec4<u32>(group);
}

// For each output channel.
fn value_of(at: u32, channels: vec4<u32>, c: u32) -> vec4<f32> {
    return x_quad(at, channels.x, dims.outputs);
}

//#variant quads
// Four channels at a time: groups have a multiple of four channels, and of four output channels.
const STEP: u32 = 4u;

fn first_channels(group: u32) -> vec4<u32> {
    return vec4<u32>(4u * group / dims.group_outputs * dims.group_channels);
}

// For each channel.
fn value_of(at: u32, channels: vec4<u32>, c: u32) -> vec4<f32> {
    return x_quad(at + channels.x * dims.along.x, c / 4u, dims.group_channels);
}
