//! Sums for the gradients of the weights of `group`, four output channels, and STEP channels from channel `c` of their groups:
//! `plus(sums, value, gradient)` adds the products of a pixel, and `store_sums(first, group, tap, c, sums)` stores them, where `first`
//! is the index of the part's first sum. Weights have the order (outputs, taps, channels of a group).

//#variant elements
// One channel for each output channel.
alias weight_sums = vec4<f32>;

fn plus(sums: vec4<f32>, value: vec4<f32>, gradient: vec4<f32>) -> vec4<f32> {
    return sums + value * gradient;
}

fn store_sums(first: u32, group: u32, tap: u32, c: u32, sums: vec4<f32>) {
    let step = dims.taps.x * dims.taps.y * dims.group_channels;
    let at = first + 4u * group * step + tap * dims.group_channels + c;
    let count = dims.outputs - 4u * group;
    parts[at] = sums.x;
    if count > 1u { parts[at + step] = sums.y; }
    if count > 2u { parts[at + 2u * step] = sums.z; }
    if count > 3u { parts[at + 3u * step] = sums.w; }
}

//#variant quads
// A column of four channels for each of four output channels.
alias weight_sums = mat4x4<f32>;

fn plus(sums: mat4x4<f32>, value: vec4<f32>, gradient: vec4<f32>) -> mat4x4<f32> {
    return sums + mat4x4<f32>(value * gradient.x, value * gradient.y, value * gradient.z, value * gradient.w);
}

fn store_sums(first: u32, group: u32, tap: u32, c: u32, sums: mat4x4<f32>) {
    let step = dims.taps.x * dims.taps.y * dims.group_channels;
    let at = first + 4u * group * step + tap * dims.group_channels + c;
    //#unroll
    for (var j = 0u; j < 4u; j++) {
        parts[at + j * step] = sums[j].x;
        parts[at + j * step + 1u] = sums[j].y;
        parts[at + j * step + 2u] = sums[j].z;
        parts[at + j * step + 3u] = sums[j].w;
    }
}
