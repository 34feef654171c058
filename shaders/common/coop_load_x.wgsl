//! Units of operand x from memory, 16 bytes at once. Past the outer edge the last unit or row is read again, which no
//! sum that is stored has a part in: blocks at the edge run the same loop as those within.

// Where the unit from these indices on lies, in units.
fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    let last = (extent - 1u) / 8u * 8u * X_OUTER + (extent - 1u) * (1u - X_OUTER);
    return (matrices.x_offset + min(outer, last) * dims.x_outer + of_segment(k) * dims.x_k) / 8u;
}

// The one that k0 lies behind the unit at `at`.
fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    return x[at + k0 * dims.x_k / 8u];
}

// The unit from these indices on, zero past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    let places = vec4<u32>(0u, 1u, 2u, 3u);
    let elements = x[x_start(outer, extent, k)];
    let count = vec4<u32>((matrices.k_end - k) * (1u - X_OUTER) + 8u * X_OUTER);
    return Unit(
        select(vec4<f16>(), elements.x, places < count),
        select(vec4<f16>(), elements.y, places + 4u < count),
    );
}
