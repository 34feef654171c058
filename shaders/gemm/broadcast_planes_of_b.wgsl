//! The planes of volumes whose windows are rows of B, of the kernel that broadcasts A (broadcast_lines.wgsl). Lines of taps are counted in
//! all planes of a window.

//#variant of_images
// An image is its only plane.

// The plane of a window's first element, which may be outside of the volume.
fn first_plane(window: Window) -> i32 {
    return 0i;
}

// The plane of a line of taps, from that of the window's first element.
fn plane_of_taps(tap_line: u32) -> i32 {
    return 0i;
}

// The line in its plane.
fn line_in_plane(tap_line: u32) -> u32 {
    return tap_line;
}

// The distance of a plane from the first, modulo 2^32.
fn plane_place(plane: i32) -> u32 {
    return 0u;
}

fn is_plane(plane: i32) -> bool {
    return true;
}

//#variant of_volumes
//#import deep_steps

fn first_plane(window: Window) -> i32 {
    return window.plane;
}

fn plane_of_taps(tap_line: u32) -> i32 {
    return i32(tap_line / dims.taps_down) * dilation_deep();
}

fn line_in_plane(tap_line: u32) -> u32 {
    return tap_line % dims.taps_down;
}

fn plane_place(plane: i32) -> u32 {
    return u32(plane) * dims.plane_stride;
}

fn is_plane(plane: i32) -> bool {
    return u32(plane) < dims.depth;
}
