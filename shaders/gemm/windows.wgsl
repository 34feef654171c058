//! The windows of an image that are the rows of operand A of a convolution. `prepare_windows(row0, lane)` is called by all lanes
//! before A is loaded.

//#variant none
// A's rows are stored.
fn prepare_windows(row0: u32, lane: u32) {}

//#variant image
// A window: the place of its image, and the line and the column of its first element, which may be outside of the image.
struct Window {
    image: u32,
    line: i32,
    column: i32,
}

// An element of a window: the line and column of its tap, and its channel.
struct WindowElement {
    tap_line: u32,
    tap_column: u32,
    channel: u32,
}

// The place of an element in memory. If it is not inside of the image, its value is zero, and `at` is that of another element.
struct WindowPlace {
    at: u32,
    is_inside: bool,
}

// The windows of this workgroup's rows of A. NOTE: a lane loads elements of several windows in each iteration. Computed once,
// they cost no divisions there, and here no registers.
var<workgroup> windows: array<Window, BM>;
var<private> first_window: u32;

// Past the last row, the last window is repeated.
fn prepare_windows(row0: u32, lane: u32) {
    first_window = row0;
    for (var i = lane; i < BM; i += LANES) {
        let window = min(row0 + i, dims.m - 1u);
        let down = window / dims.windows_across;
        windows[i] = Window(
            matrices.a_offset + down / dims.windows_down * dims.a_image,
            i32(down % dims.windows_down * dims.step_down) - dims.before_down,
            i32(window % dims.windows_across * dims.step_across) - dims.before_across,
        );
    }
    workgroupBarrier();
}

// n divided by a number with this reciprocal, for n up to 2^21: a quotient is at least half of the reciprocal away from a whole
// number, which is more than three roundings.
fn window_quotient(n: u32, reciprocal: f32) -> u32 {
    return u32((f32(n) + 0.5) * reciprocal);
}

// The element with index k along a window.
fn window_element(k: u32) -> WindowElement {
    let tap = window_quotient(k, dims.per_channel);
    let line = window_quotient(tap, dims.per_tap);
    return WindowElement(line, tap - line * dims.taps_across, k - tap * dims.channels);
}

// The next element along k.
fn next_window_element(element: WindowElement) -> WindowElement {
    let carry = u32(element.channel + 1u == dims.channels);
    let carry_line = carry * u32(element.tap_column + 1u == dims.taps_across);
    return WindowElement(
        element.tap_line + carry_line,
        (element.tap_column + carry) * (1u - carry_line),
        (element.channel + 1u) * (1u - carry),
    );
}

// The place of an element of the window that is this row of A. Outside of the image, it is that of the nearest line and column.
fn window_place(row: u32, element: WindowElement) -> WindowPlace {
    let window = windows[row - first_window];
    let line = window.line + i32(element.tap_line * dims.dilation_down);
    let column = window.column + i32(element.tap_column * dims.dilation_across);
    let inner_line = clamp(line, 0i, i32(dims.height) - 1i);
    let inner_column = clamp(column, 0i, i32(dims.width) - 1i);
    return WindowPlace(
        window.image + u32(inner_line) * dims.a_line + u32(inner_column) * dims.a_outer + element.channel * dims.a_k,
        line == inner_line && column == inner_column,
    );
}
