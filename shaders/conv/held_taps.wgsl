//! The weights of all taps of a depthwise kernel, for the four channels of `group`: `held_weights(group)`, in the order of taps.

//#variant elements
// One by one, any strides.
fn held_weights(group: u32) -> array<vec4<f32>, TAPS> {
    var weights: array<vec4<f32>, TAPS>;
    let first = dims.weight.x + 4u * group * dims.weight.y;
    //#unroll
    for (var k = 0u; k < TAPS_DOWN; k++) {
        //#unroll
        for (var l = 0u; l < TAPS_ACROSS; l++) {
            weights[k * TAPS_ACROSS + l] = load_quad_weight(first + k * dims.weight.z + l * dims.weight.w, dims.weight.y, dims.outputs - 4u * group);
        }
    }
    return weights;
}

//#variant quads
// In quads: the taps of a channel are neighbours, and channels follow each other.
fn held_weights(group: u32) -> array<vec4<f32>, TAPS> {
    var quads: array<vec4<f32>, TAPS>;
    //#unroll
    for (var k = 0u; k < TAPS; k++) {
        quads[k] = quad_weight(dims.weight.x / 4u + group * TAPS + k);
    }
    var weights: array<vec4<f32>, TAPS>;
    //#unroll
    for (var k = 0u; k < TAPS; k++) {
        weights[k] = vec4<f32>(
            quads[k / 4u][k % 4u],
            quads[(TAPS + k) / 4u][(TAPS + k) % 4u],
            quads[(2u * TAPS + k) / 4u][(2u * TAPS + k) % 4u],
            quads[(3u * TAPS + k) / 4u][(3u * TAPS + k) % 4u],
        );
    }
    return weights;
}
