//! Rows of A in fours, of a kernel whose invocations all read the same elements of A. `hold_rows(row0)` is called before A is read;
//! past the last row, it is repeated. `run_end(k, k_end)` is the end of the run of k from `k` in which elements of a row are
//! dims.a_k apart. `four_rows(i, k)` says where rows 4 i to 4 i + 3 have their elements at `k`, the start of a run;
//! `in_rows(rows, values)` replaces what has no place in memory by zeros.

//#variant memory
// Stored rows.
struct FourRows {
    at: vec4<u32>,
}

var<private> first_row: u32;

fn hold_rows(row0: u32) {
    first_row = row0;
}

fn run_end(k: u32, k_end: u32) -> u32 {
    return k_end;
}

fn four_rows(i: u32, k: u32) -> FourRows {
    let rows = min(vec4<u32>(first_row + i * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.m - 1u));
    return FourRows(matrices.a_offset + rows * dims.a_outer + k * dims.a_k);
}

fn in_rows(rows: FourRows, values: vec4<f32>) -> vec4<f32> {
    return values;
}

//#variant windows
// Windows of an image. A run is a tap: its channels.
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
        let rows = min(vec4<u32>(row0 + i * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.m - 1u));
        let down = rows / dims.windows_across;
        row_images[i] = matrices.a_offset + down / dims.windows_down * dims.a_image;
        row_lines[i] = vec4<i32>(down % dims.windows_down * dims.step_down) - dims.before_down;
        row_columns[i] = vec4<i32>(rows % dims.windows_across * dims.step_across) - dims.before_across;
    }
}

fn run_end(k: u32, k_end: u32) -> u32 {
    return min(k_end, (k / dims.channels + 1u) * dims.channels);
}

fn four_rows(i: u32, k: u32) -> FourRows {
    let tap = k / dims.channels;
    let lines = row_lines[i] + i32(tap / dims.taps_across * dims.dilation_down);
    let columns = row_columns[i] + i32(tap % dims.taps_across * dims.dilation_across);
    let inner_lines = clamp(lines, vec4<i32>(), vec4<i32>(i32(dims.height) - 1i));
    let inner_columns = clamp(columns, vec4<i32>(), vec4<i32>(i32(dims.width) - 1i));
    let places = vec4<u32>(inner_lines) * dims.a_line + vec4<u32>(inner_columns) * dims.a_outer;
    return FourRows(
        row_images[i] + places + k % dims.channels * dims.a_k,
        (lines == inner_lines) & (columns == inner_columns),
    );
}

fn in_rows(rows: FourRows, values: vec4<f32>) -> vec4<f32> {
    return select(vec4<f32>(), values, rows.are_inside);
}
