//! The first used position of T: `first_position()`. It is limited so that there is a position for each row.

//#variant number
// The call passes it.
fn first_position() -> u32 {
    return min(dims.start, dims.last);
}

//#variant position
// A buffer has it; it may be any number there.
@group(0) @binding(3) var<storage, read> positions: array<i32>;

fn first_position() -> u32 {
    return u32(clamp(positions[dims.start], 0, i32(dims.last)));
}
