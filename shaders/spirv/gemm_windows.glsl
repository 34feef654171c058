// An operand of a convolution, as in gemm/windows.wgsl: its rows are the windows of an image, which is stored only once.

// A window: the place of its image, and the line and the column of its first element, which may be outside of the image.
struct Window {
    uint image;
    int line;
    int column;
};

// The windows of this workgroup's rows of A. A lane loads elements of several windows in each iteration.
shared Window windows[BM];
// With DEPTH, images are volumes, and a window has the lines of all its planes of taps, one plane after another. Its first plane:
shared int window_planes[DEPTH == 1 ? BM : 1];

// The window in this line and column of windows of an image. With DEPTH, `image` is a plane of windows, counted in all volumes. Images
// begin at `first`.
Window window_at(uint first, uint image, uint line, uint column, out int plane) {
    plane = 0;
    if (DEPTH == 1) {
        const uint volume = image / dims.windows_deep;
        plane = int((image - volume * dims.windows_deep) * (dims.deep_steps & 0xffff)) - dims.before_deep;
        image = volume;
    }
    return Window(
        first + image * dims.a_batch0,
        int(line * dims.step_down) - dims.before_down,
        int(column * dims.step_across) - dims.before_across
    );
}

// Puts the windows from `row0` on into shared memory. Past the last row, the last window is repeated.
void prepare_windows(uint row0) {
    for (uint i = gl_LocalInvocationIndex; i < BM; i += LANES) {
        const uint row = first_window + min(row0 + i, dims.m - 1);
        const uint down = row / dims.windows_across;
        int plane;
        windows[i] = window_at(
            a_first, down / dims.windows_down, down % dims.windows_down, row % dims.windows_across, plane
        );
        if (DEPTH == 1) {
            window_planes[i] = plane;
        }
    }
    barrier();
}

// n divided by a number with this reciprocal, for n up to 2^21, as in gemm/windows.wgsl.
uint window_quotient(uint n, float reciprocal) {
    return uint((float(n) + 0.5) * reciprocal);
}

// n divided by a number with this reciprocal, for n below 2^24, as in gemm/windows.wgsl.
uint row_quotient(uint n, uint divisor, float reciprocal) {
    const uint near = uint(float(n) * reciprocal);
    return near * divisor > n ? near - 1 : n - near * divisor >= divisor ? near + 1 : near;
}

// The window that is this row of B, and its first plane.
Window window_row(uint k, out int plane) {
    const uint down = row_quotient(k, dims.windows_across, dims.per_across);
    const uint image = row_quotient(down, dims.windows_down, dims.per_down);
    return window_at(b_first, image, down - image * dims.windows_down, k - down * dims.windows_across, plane);
}

// The plane of taps that has this line, of at most 2^20: the reciprocal may be two and a half units of its last bit off.
uint tap_plane(uint line) {
    return window_quotient(line, 1.0 / float(dims.taps_down));
}

// The place of an element of a window in its image, by the line and column of its tap and its channel, with the strides of columns and
// channels; outside of the image, that of the nearest plane, line and column.
uint window_place(Window window, int plane, uvec3 element, uvec2 strides, out bool is_inside) {
    uint start = window.image;
    bool is_in_depth = true;
    if (DEPTH == 1) {
        const uint of_taps = tap_plane(element.x);
        element.x -= of_taps * dims.taps_down;
        plane += int(of_taps) * (int(dims.deep_steps) >> 16);
        const int nearest = clamp(plane, 0, int(dims.depth) - 1);
        is_in_depth = plane == nearest;
        start += uint(nearest) * dims.plane_stride;
    }
    const ivec2 at = ivec2(window.line, window.column)
        + ivec2(element.xy) * ivec2(dims.dilation_down, dims.dilation_across);
    const ivec2 inner = clamp(at, ivec2(0), ivec2(dims.height, dims.width) - 1);
    is_inside = is_in_depth && at == inner;
    return start + uint(inner.x) * dims.a_batch1 + uint(inner.y) * strides.x + element.z * strides.y;
}

// The line and the column of the tap of an element of a window, and its channel, by its index.
uvec3 window_element(uint index) {
    const uint tap = window_quotient(index, dims.per_channel);
    const uint line = window_quotient(tap, dims.per_tap);
    return uvec3(line, tap - line * dims.taps_across, index - tap * dims.channels);
}

// The element after this one.
uvec3 next_element(uvec3 element) {
    element.z += 1;
    const bool carries = element.z == dims.channels;
    element = carries ? uvec3(element.x, element.y + 1, 0) : element;
    const bool carries_line = element.y == dims.taps_across;
    return carries_line ? uvec3(element.x + 1, 0, element.z) : element;
}

// The unit of A at these indices, with zeros past the end of k, `k_end`. The row is in the block of rows that begins at `row0`.
uvec4 window_unit(uint row0, uint row, uint k, uint k_end) {
    if (k >= k_end) {
        return uvec4(0);
    }
    const Window window = windows[row - row0];
    const int plane = DEPTH == 1 ? window_planes[row - row0] : 0;
    const uvec2 strides = uvec2(dims.a_outer, dims.a_k);
    uvec3 element = window_element(k);
    bool is_inside;
    uvec4 unit = uvec4(0);
    if (a_BY_UNITS == 1) {
        // A window consists of whole units.
        const uint at = window_place(window, plane, element, strides, is_inside);
        const uvec4 loaded = a_units[at / UNIT];
        return mix(unit, loaded, bvec4(is_inside));
    }
    [[unroll]] for (uint e = 0; e < UNIT; e++) {
        const uint bits = a_element(window_place(window, plane, element, strides, is_inside));
        unit[e / PER_WORD] |= (is_inside && k + e < k_end ? bits : 0) << (e % PER_WORD * BITS);
        element = next_element(element);
    }
    return unit;
}

// The unit of B at these indices, along the outer axis: its rows are taps and channels, or windows. Zeros past the end of k.
uvec4 row_unit(uint col0, uint outer, uint k, uint k_end) {
    if (k >= k_end) {
        return uvec4(0);
    }
    if (B_READS == 1) {
        const uvec3 element = window_element(k);
        const uint plane = DEPTH == 1 ? tap_plane(element.x) : 0;
        const uint line = element.x - plane * dims.taps_down;
        const uint tap = plane * dims.b_tap_plane + line * dims.b_batch0 + element.y * dims.b_batch1;
        const uint row = tap + element.z * dims.b_k;
        return b_load(b_start(outer, dims.n, 0) + row, b_within(outer, dims.n));
    }
    int plane;
    const Window window = window_row(k, plane);
    const uvec2 strides = uvec2(dims.b_k, dims.b_outer);
    bool is_inside;
    uvec4 unit = uvec4(0);
    if (b_BY_UNITS == 1) {
        // A window consists of whole units.
        const uint at = window_place(window, plane, window_element(min(outer, dims.n - UNIT)), strides, is_inside);
        const uvec4 loaded = b_units[at / UNIT];
        return mix(unit, loaded, bvec4(is_inside));
    }
    // Past the outer edge, taps are clamped to the image.
    uvec3 element = window_element(min(outer, dims.n - 1));
    [[unroll]] for (uint e = 0; e < UNIT; e++) {
        const uint bits = b_element(window_place(window, plane, element, strides, is_inside));
        unit[e / PER_WORD] |= (is_inside ? bits : 0) << (e % PER_WORD * BITS);
        element = next_element(element);
    }
    return unit;
}
