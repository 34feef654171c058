//! Rows of A in fours and columns of B, of a kernel whose invocations all read the same elements of A. `hold_rows(row0)` is called
//! before A is read; past the last row, it is repeated. `run_end(k, k_end)` is the end of the run of k from `k` in which elements
//! of a row are dims.a_k apart. `four_rows(i, k)` says where rows 4 i to 4 i + 3 have their elements at `k`, the start of a run, and
//! `in_run(column, k)` where a column does, which `column_of_b(column)` returns. `row_of_b(k, begin)` is what all columns share at k in
//! the run from `begin` on, and `b_value(column, row)` an element. `in_rows(rows, values)` replaces what has no place in memory by zeros.

//#variant memory
// Both are stored.
//#import broadcast_stored
//#import broadcast_column

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
// The rows of B are windows of an image. All of k is one run: the window at k is found once for all columns.
//#import broadcast_stored
//#slot broadcast_planes_of_b default of_images

// A column: the plane, the line and the column of its tap, and its distance from a window's first element.
struct Column {
    plane: i32,
    line: i32,
    column: i32,
    place: u32,
}

alias ColumnInRun = Column;

// The window at an index along k: the plane, the line, the column and the place of its first element, which may be outside of the image.
struct RowInRun {
    plane: i32,
    line: i32,
    column: i32,
    place: u32,
}

fn run_end(k: u32, k_end: u32) -> u32 {
    return k_end;
}

fn column_of_b(column: u32) -> Column {
    let tap = column / dims.channels;
    let tap_line = tap / dims.taps_across;
    let plane = plane_of_taps(tap_line);
    let line = i32(line_in_plane(tap_line)) * dims.dilation_down;
    let across = i32(tap % dims.taps_across) * dims.dilation_across;
    let in_plane = u32(line) * dims.line_stride + u32(across) * dims.b_k; // wraps: a place modulo 2^32, as below
    return Column(plane, line, across, plane_place(plane) + in_plane + column % dims.channels * dims.b_outer);
}

fn in_run(column: Column, k: u32) -> Column {
    return column;
}

// Places are modulo 2^32: that of a window may be before its image, and is back in the image where an element is inside.
fn row_of_b(k: u32, begin: u32) -> RowInRun {
    let window = window_row(k);
    let plane = first_plane(window);
    let in_plane = u32(window.line) * dims.line_stride + u32(window.column) * dims.b_k;
    return RowInRun(plane, window.line, window.column, window.image + plane_place(plane) + in_plane);
}

fn b_value(column: Column, row: RowInRun) -> f32 {
    let line = u32(row.line + column.line);
    let across = u32(row.column + column.column);
    let is_inside = is_plane(row.plane + column.plane) & (line < dims.height) & (across < dims.width);
    let place = row.place + column.place;
    return select(0.0, load_b(select(matrices.b_offset, place, is_inside)), is_inside);
}
