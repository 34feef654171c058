//! Windows of an image and their elements, in the order tap line, tap column, channel.

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

// The place of an element of a window, with the strides of columns and channels. Outside of the image, it is that of the nearest
// line and column.
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
