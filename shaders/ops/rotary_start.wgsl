//! The first position of T that is taken: `first_position()`, at most the last that leaves a position for each row.

//#variant number
// The call passes it.
fn first_position() -> u32 {
    return min(dims.start, dims.last);
}

//#variant position
// It is in a buffer, where it may be any number.
@group(0) @binding(3) var<storage, read> positions: array<i32>;

fn first_position() -> u32 {
    return u32(clamp(positions[dims.start], 0, i32(dims.last)));
}
