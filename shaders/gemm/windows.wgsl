//! The windows of an image that are the rows of an operand of a convolution. `prepare_windows(row0, lane)` is called by all lanes
//! before operands are loaded.

//#variant none
// No operand has windows.
fn prepare_windows(row0: u32, lane: u32) {}

//#variant rows_of_a
// The rows of A are windows. Those of B may be taps and channels.
//#slot window_element default of_images

// The windows of this workgroup's rows of A. NOTE: a lane loads elements of several windows in each iteration. Computed once,
// they cost no divisions there, and here no registers.
var<workgroup> windows: array<Window, BM>;
var<private> first_window: u32;

// Past the last row, the last window is repeated.
fn prepare_windows(row0: u32, lane: u32) {
    first_window = row0;
    for (var i = lane; i < BM; i += LANES) {
        let window = first_window_of_matrix() + min(row0 + i, dims.m - 1u);
        let down = window / dims.windows_across;
        windows[i] = window_at(
            matrices.a_offset,
            down / dims.windows_down,
            down % dims.windows_down,
            window % dims.windows_across,
        );
    }
    workgroupBarrier();
}

// The place of an element of the window that is this row of A.
fn window_place(row: u32, element: WindowElement) -> WindowPlace {
    return place_in(windows[row - first_window], element, dims.a_outer, dims.a_k);
}

// The place of the row of B with index k, if its rows are taps and channels.
fn tap_row(k: u32) -> u32 {
    let element = window_element(k);
    return matrices.b_offset + tap_place(element) + element.channel * dims.b_k;
}

//#variant rows_of_b
// The rows of B are windows: one for each index along k.
//#slot window_element default of_images

fn prepare_windows(row0: u32, lane: u32) {}

// n divided by a number with this reciprocal, for n below 2^24: the quotient in f32 is at most one off.
fn row_quotient(n: u32, divisor: u32, reciprocal: f32) -> u32 {
    let near = u32(f32(n) * reciprocal);
    let product = near * divisor;
    return select(near + u32(n >= product + divisor), max(near, 1u) - 1u, product > n);
}

// The window that is this row of B.
fn window_row(k: u32) -> Window {
    let down = row_quotient(k, dims.windows_across, dims.per_across);
    let image = row_quotient(down, dims.windows_down, dims.per_down); // or plane, of volumes
    return window_at(
        matrices.b_offset,
        image,
        down - image * dims.windows_down,
        k - down * dims.windows_across,
    );
}

// The place of an element of a window.
fn row_place(window: Window, element: WindowElement) -> WindowPlace {
    return place_in(window, element, dims.b_k, dims.b_outer);
}
