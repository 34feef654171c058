// Operand A of a convolution, as in gemm/windows.wgsl: its rows are the windows of an image, which is stored only once.

// A window: the place of its image, and the line and the column of its first element, which may be outside of the image.
struct Window {
    uint image;
    int line;
    int column;
};

// The windows of this workgroup's rows of A. A lane loads elements of several windows in each iteration.
shared Window windows[BM];

// Puts the windows from `row0` on into shared memory. Past the last row, the last window is repeated.
void prepare_windows(uint row0) {
    for (uint i = gl_LocalInvocationIndex; i < BM; i += LANES) {
        const uint row = min(row0 + i, dims.m - 1);
        const uint down = row / dims.windows_across;
        windows[i] = Window(
            a_first + down / dims.windows_down * dims.a_batch0,
            int(down % dims.windows_down * dims.step_down) - dims.before_down,
            int(row % dims.windows_across * dims.step_across) - dims.before_across
        );
    }
    barrier();
}

// n divided by a number with this reciprocal, for n up to 2^21, as in gemm/windows.wgsl.
uint window_quotient(uint n, float reciprocal) {
    return uint((float(n) + 0.5) * reciprocal);
}

// The place of an element of a window in its image, by the line and column of its tap and its channel; outside of the image, that of the
// nearest line and column.
uint window_place(Window window, uvec3 element, out bool is_inside) {
    const ivec2 at = ivec2(window.line, window.column)
        + ivec2(element.x * dims.dilation_down, element.y * dims.dilation_across);
    const ivec2 inner = clamp(at, ivec2(0), ivec2(dims.height, dims.width) - 1);
    is_inside = at == inner;
    return window.image + uint(inner.x) * dims.a_batch1 + uint(inner.y) * dims.a_outer + element.z * dims.a_k;
}

// The unit of A at these indices, with zeros past the end of k, `k_end`. The row is in the block of rows that begins at `row0`.
uvec4 window_unit(uint row0, uint row, uint k, uint k_end) {
    if (k >= k_end) {
        return uvec4(0);
    }
    const Window window = windows[row - row0];
    const uint tap = window_quotient(k, dims.per_channel);
    const uint line = window_quotient(tap, dims.per_tap);
    uvec3 element = uvec3(line, tap - line * dims.taps_across, k - tap * dims.channels);
    bool is_inside;
    uvec4 unit = uvec4(0);
    if (a_BY_UNITS == 1) {
        // A window consists of whole units.
        const uint at = window_place(window, element, is_inside);
        const uvec4 loaded = a_units[at / UNIT];
        return mix(unit, loaded, bvec4(is_inside));
    }
    [[unroll]] for (uint e = 0; e < UNIT; e++) {
        const uint bits = a_element(window_place(window, element, is_inside));
        unit[e / PER_WORD] |= (is_inside && k + e < k_end ? bits : 0) << (e % PER_WORD * BITS);
        // The next element along k.
        element.z += 1;
        const bool carries = element.z == dims.channels;
        element = carries ? uvec3(element.x, element.y + 1, 0) : element;
        const bool carries_line = element.y == dims.taps_across;
        element = carries_line ? uvec3(element.x + 1, 0, element.z) : element;
    }
    return unit;
}
