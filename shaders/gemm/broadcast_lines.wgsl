//! Rows of A in fours and columns of B, of a kernel whose invocations all read the same elements of A. `hold_rows(row0)` is called
//! before A is read; past the last row, it is repeated. `run_end(k, k_end)` is the end of the run of k from `k` in which elements
//! of a row are dims.a_k apart, and those of a column `step_of_b()`; `stretch_end(k, k_end)` is that of the runs that repeat.
//! `four_rows(i, k)` says where rows 4 i to 4 i + 3 have their elements at `k`, the start of a run, and `in_run(column, k)` where a
//! column does, which `column_of_b(column)` returns; `in_rows(rows, values)` and `in_column(column, value)` replace what has no
//! place in memory by zeros.

//#variant memory
// Both are stored.
//#import broadcast_stored
//#import broadcast_column

fn stretch_end(k: u32, k_end: u32) -> u32 {
    return k_end;
}

fn run_end(k: u32, k_end: u32) -> u32 {
    return k_end;
}

fn in_run(column: Column, k: u32) -> ColumnInRun {
    return ColumnInRun(column.at + k * dims.b_k);
}

//#variant windows_of_a
// The rows of A are windows of an image. A run is a tap: its channels.
//#import broadcast_column
//#slot broadcast_planes_of_a default of_images

struct FourRows {
    at: vec4<u32>,
    are_inside: vec4<bool>,
}

// The places of the rows' images, and the lines and columns of their first elements.
var<private> row_images: array<vec4<u32>, BM / 4u>;
var<private> row_lines: array<vec4<i32>, BM / 4u>;
var<private> row_columns: array<vec4<i32>, BM / 4u>;

fn hold_rows(row0: u32) {
    //#unroll
    for (var i = 0u; i < BM / 4u; i++) {
        let in_matrix = min(vec4<u32>(row0 + i * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.m - 1u));
        let rows = first_window_of_matrix() + in_matrix;
        let down = rows / dims.windows_across;
        row_images[i] = matrices.a_offset + hold_planes(i, down / dims.windows_down) * dims.image_stride;
        row_lines[i] = vec4<i32>(down % dims.windows_down * dims.step_down) - dims.before_down;
        row_columns[i] = vec4<i32>(rows % dims.windows_across * dims.step_across) - dims.before_across;
    }
}

fn stretch_end(k: u32, k_end: u32) -> u32 {
    return k_end;
}

fn run_end(k: u32, k_end: u32) -> u32 {
    return min(k_end, (k / dims.channels + 1u) * dims.channels);
}

fn four_rows(i: u32, k: u32) -> FourRows {
    let tap = k / dims.channels;
    let tap_line = tap / dims.taps_across;
    let planes = four_planes(i, tap_line);
    let lines = row_lines[i] + i32(line_in_plane(tap_line)) * dims.dilation_down;
    let columns = row_columns[i] + i32(tap % dims.taps_across) * dims.dilation_across;
    let inner_lines = clamp(lines, vec4<i32>(), vec4<i32>(i32(dims.height) - 1i));
    let inner_columns = clamp(columns, vec4<i32>(), vec4<i32>(i32(dims.width) - 1i));
    let places = vec4<u32>(inner_lines) * dims.line_stride + vec4<u32>(inner_columns) * dims.a_outer;
    return FourRows(
        row_images[i] + planes.at + places + k % dims.channels * dims.a_k,
        planes.are_inside & (lines == inner_lines) & (columns == inner_columns),
    );
}

fn in_rows(rows: FourRows, values: vec4<f32>) -> vec4<f32> {
    return select(vec4<f32>(), values, rows.are_inside);
}

fn in_run(column: Column, k: u32) -> ColumnInRun {
    let tap = k / dims.channels;
    let place = tap_line_of_b(tap / dims.taps_across) + tap % dims.taps_across * dims.b_tap_column;
    return ColumnInRun(column.at + place + k % dims.channels * dims.b_k);
}

//#variant windows_of_b
// The rows of B are windows of an image. A run consists of windows of a line that are inside of the image with all of their columns,
// or of one other window.
//#import broadcast_stored
//#slot broadcast_planes_of_b default of_images

// A column: the line of its tap, the column that it reads, and the place of its channel.
struct Column {
    tap_line: u32,
    column: i32,
    channel: u32,
}

// The same in a run: the place at its start.
struct ColumnInRun {
    at: u32,
    is_inside: bool,
}

fn column_of_b(column: u32) -> Column {
    let tap = column / dims.channels;
    return Column(
        tap / dims.taps_across,
        i32(tap % dims.taps_across) * dims.dilation_across,
        column % dims.channels * dims.b_outer,
    );
}

// A run has one window if windows are as far apart as an image is wide.
fn step_of_b() -> u32 {
    return min(dims.step_across, dims.width) * dims.b_k;
}

// The first window of a line with all of its columns inside of the image, and the one after the last of these.
fn inner_windows() -> vec2<u32> {
    let first = (u32(max(dims.before_across, 0i)) + dims.step_across - 1u) / dims.step_across;
    let room = i32(dims.width) + dims.before_across - i32(dims.taps_across - 1u) * dims.dilation_across;
    let end = (u32(max(room, 0i)) + dims.step_across - 1u) / dims.step_across;
    return vec2<u32>(first, min(end, dims.windows_across));
}

// A stretch is a line of windows.
fn stretch_end(k: u32, k_end: u32) -> u32 {
    return min(k_end, (k / dims.windows_across + 1u) * dims.windows_across);
}

fn run_end(k: u32, k_end: u32) -> u32 {
    let window = k % dims.windows_across;
    let inner = inner_windows();
    if window < inner.x || window >= inner.y {
        return k + 1u;
    }
    return min(k_end, k - window + inner.y);
}

fn in_run(column: Column, k: u32) -> ColumnInRun {
    let down = k / dims.windows_across;
    let plane = plane_at(down / dims.windows_down, column.tap_line);
    let of_taps = i32(line_in_plane(column.tap_line)) * dims.dilation_down;
    let line = i32(down % dims.windows_down * dims.step_down) - dims.before_down + of_taps;
    let inner_line = clamp(line, 0i, i32(dims.height) - 1i);
    let first = i32(k % dims.windows_across * dims.step_across) - dims.before_across + column.column;
    let inner_column = clamp(first, 0i, i32(dims.width) - 1i);
    let place = u32(inner_line) * dims.line_stride + u32(inner_column) * dims.b_k;
    return ColumnInRun(
        matrices.b_offset + plane.at + place + column.channel,
        plane.is_inside && line == inner_line && first == inner_column,
    );
}

fn in_column(column: ColumnInRun, value: f32) -> f32 {
    return select(0.0, value, column.is_inside);
}
