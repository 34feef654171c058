//! The planes of volumes whose windows are rows of A, of the kernel that broadcasts them (broadcast_lines.wgsl). Planes of windows are
//! counted in all volumes, and lines of taps in all planes of a window.

// The planes of four windows at a tap: their places from the start of their volumes, of the nearest planes if they are outside.
struct FourPlanes {
    at: vec4<u32>,
    are_inside: vec4<bool>,
}

//#variant of_images
// An image is its only plane.

// Holds the planes of windows 4 i to 4 i + 3, and returns their images.
fn hold_planes(i: u32, planes: vec4<u32>) -> vec4<u32> {
    return planes;
}

fn four_planes(i: u32, tap_line: u32) -> FourPlanes {
    return FourPlanes(vec4<u32>(), vec4<bool>(true));
}

// The line of a tap in its plane.
fn line_in_plane(tap_line: u32) -> u32 {
    return tap_line;
}

// The place of a line of taps in B.
fn tap_line_of_b(tap_line: u32) -> u32 {
    return tap_line * dims.b_tap_line;
}

//#variant of_volumes
//#import deep_steps

// The planes of the rows' first elements.
var<private> row_planes: array<vec4<i32>, BM / 4u>;

fn hold_planes(i: u32, planes: vec4<u32>) -> vec4<u32> {
    row_planes[i] = vec4<i32>(planes % dims.windows_deep * step_deep()) - dims.before_deep;
    return planes / dims.windows_deep;
}

fn four_planes(i: u32, tap_line: u32) -> FourPlanes {
    let planes = row_planes[i] + i32(tap_line / dims.taps_down) * dilation_deep();
    let inner = clamp(planes, vec4<i32>(), vec4<i32>(i32(dims.depth) - 1i));
    return FourPlanes(vec4<u32>(inner) * dims.plane_stride, planes == inner);
}

fn line_in_plane(tap_line: u32) -> u32 {
    return tap_line % dims.taps_down;
}

fn tap_line_of_b(tap_line: u32) -> u32 {
    return tap_line / dims.taps_down * dims.b_tap_plane + tap_line % dims.taps_down * dims.b_tap_line;
}
