//! The planes of volumes whose windows are rows of B, of the kernel that broadcasts A (broadcast_lines.wgsl). Planes of windows are
//! counted in all volumes, and lines of taps in all planes of a window.

// The plane of a window at a tap, that of the nearest plane if it is outside of its volume.
struct TapPlane {
    at: u32,
    is_inside: bool,
}

//#variant of_images
// An image is its only plane.

fn plane_at(plane: u32, tap_line: u32) -> TapPlane {
    return TapPlane(plane * dims.image_stride, true);
}

// The line of a tap in its plane.
fn line_in_plane(tap_line: u32) -> u32 {
    return tap_line;
}

//#variant of_volumes
//#import deep_steps

fn plane_at(plane: u32, tap_line: u32) -> TapPlane {
    let first = i32(plane % dims.windows_deep * step_deep()) - dims.before_deep;
    let at = first + i32(tap_line / dims.taps_down) * dilation_deep();
    let inner = clamp(at, 0i, i32(dims.depth) - 1i);
    return TapPlane(
        plane / dims.windows_deep * dims.image_stride + u32(inner) * dims.plane_stride,
        at == inner,
    );
}

fn line_in_plane(tap_line: u32) -> u32 {
    return tap_line % dims.taps_down;
}
