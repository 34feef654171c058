//! The steps along the depth of volumes, which share a word of the dims.

// From a window to the next.
fn step_deep() -> u32 {
    return dims.deep_steps & 0xffffu;
}

// From a tap to the next; negative if taps go back.
fn dilation_deep() -> i32 {
    return i32(dims.deep_steps) >> 16u;
}
