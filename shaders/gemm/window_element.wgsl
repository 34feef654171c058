//! Windows of an image and their elements, in the order tap line, tap column, channel. A window of a volume has the lines of all its
//! planes of taps, one plane after another. Places are those of the nearest pixel if an element is outside of the image.

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

// n divided by a number with this reciprocal, for n up to 2^21: a quotient is at least half of the reciprocal away from a whole
// number, which is more than three roundings.
fn window_quotient(n: u32, reciprocal: f32) -> u32 {
    return u32((f32(n) + 0.5) * reciprocal);
}

// The element with this index in a window.
fn window_element(index: u32) -> WindowElement {
    let tap = window_quotient(index, dims.per_channel);
    let line = window_quotient(tap, dims.per_tap);
    return WindowElement(line, tap - line * dims.taps_across, index - tap * dims.channels);
}

// The next element.
fn next_window_element(element: WindowElement) -> WindowElement {
    let carry = u32(element.channel + 1u == dims.channels);
    let carry_line = carry * u32(element.tap_column + 1u == dims.taps_across);
    return WindowElement(
        element.tap_line + carry_line,
        (element.tap_column + carry) * (1u - carry_line),
        (element.channel + 1u) * (1u - carry),
    );
}

//#variant of_images
// A window: the place of its image, and the line and the column of its first element, which may be outside of the image.
struct Window {
    image: u32,
    line: i32,
    column: i32,
}

// The window in this line and column of windows of an image. Images begin at `first`.
fn window_at(first: u32, image: u32, line: u32, column: u32) -> Window {
    return Window(
        first + image * dims.image_stride,
        i32(line * dims.step_down) - dims.before_down,
        i32(column * dims.step_across) - dims.before_across,
    );
}

// The place of an element of a window, with the strides of columns and channels.
fn place_in(window: Window, element: WindowElement, column_stride: u32, channel_stride: u32) -> WindowPlace {
    let line = window.line + i32(element.tap_line) * dims.dilation_down;
    let column = window.column + i32(element.tap_column) * dims.dilation_across;
    let inner_line = clamp(line, 0i, i32(dims.height) - 1i);
    let inner_column = clamp(column, 0i, i32(dims.width) - 1i);
    let place = u32(inner_line) * dims.line_stride + u32(inner_column) * column_stride;
    return WindowPlace(
        window.image + place + element.channel * channel_stride,
        line == inner_line && column == inner_column,
    );
}

// The place of a tap in B.
fn tap_place(element: WindowElement) -> u32 {
    return element.tap_line * dims.b_tap_line + element.tap_column * dims.b_tap_column;
}

//#variant of_volumes
//#import deep_steps

// A window: the place of its volume, and the plane, the line and the column of its first element, which may be outside of the volume.
struct Window {
    image: u32,
    plane: i32,
    line: i32,
    column: i32,
}

// The window in this line and column of a plane of windows. Planes are counted in all volumes, which begin at `first`.
fn window_at(first: u32, plane: u32, line: u32, column: u32) -> Window {
    let image = plane / dims.windows_deep;
    return Window(
        first + image * dims.image_stride,
        i32((plane - image * dims.windows_deep) * step_deep()) - dims.before_deep,
        i32(line * dims.step_down) - dims.before_down,
        i32(column * dims.step_across) - dims.before_across,
    );
}

// The plane of taps of an element, of at most 2^20 lines: the reciprocal may be two and a half units of its last bit off.
fn tap_plane(element: WindowElement) -> u32 {
    return window_quotient(element.tap_line, 1.0 / f32(dims.taps_down));
}

// The place of an element of a window, with the strides of columns and channels.
fn place_in(window: Window, element: WindowElement, column_stride: u32, channel_stride: u32) -> WindowPlace {
    let deep = tap_plane(element);
    let plane = window.plane + i32(deep) * dilation_deep();
    let line = window.line + i32(element.tap_line - deep * dims.taps_down) * dims.dilation_down;
    let column = window.column + i32(element.tap_column) * dims.dilation_across;
    let inner_plane = clamp(plane, 0i, i32(dims.depth) - 1i);
    let inner_line = clamp(line, 0i, i32(dims.height) - 1i);
    let inner_column = clamp(column, 0i, i32(dims.width) - 1i);
    let in_plane = u32(inner_line) * dims.line_stride + u32(inner_column) * column_stride;
    return WindowPlace(
        window.image + u32(inner_plane) * dims.plane_stride + in_plane + element.channel * channel_stride,
        plane == inner_plane && line == inner_line && column == inner_column,
    );
}

// The place of a tap in B.
fn tap_place(element: WindowElement) -> u32 {
    let plane = tap_plane(element);
    let line = element.tap_line - plane * dims.taps_down;
    return plane * dims.b_tap_plane + line * dims.b_tap_line + element.tap_column * dims.b_tap_column;
}
