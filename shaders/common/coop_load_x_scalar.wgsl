//! Units of operand x from memory, element by element: any strides and offset. Past the outer edge the last element is
//! read again, which no sum that is stored has a part in.

// Where the unit from these indices on lies, in elements: its first, within the outer edge.
fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return matrices.x_offset + min(outer, extent - 1u) * dims.x_outer + of_segment(k) * dims.x_k;
}

// The one that k0 lies behind the unit at `at`.
fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    let first = at + k0 * dims.x_k;
    let beyond = extent - 1u - min(outer, extent - 1u); // elements to the outer edge
    var elements: Unit;
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements.x[e] = x[first + min(e, beyond) * dims.x_outer * X_OUTER + e * dims.x_k * (1u - X_OUTER)];
        elements.y[e] =
            x[first + min(e + 4u, beyond) * dims.x_outer * X_OUTER + (e + 4u) * dims.x_k * (1u - X_OUTER)];
    }
    return elements;
}

fn x_element(outer: u32, extent: u32, k: u32) -> f16 {
    if k >= matrices.k_end {
        return 0h;
    }
    return x[x_start(outer, extent, k)];
}

// The unit from these indices on, zero past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    var elements: Unit;
    for (var e = 0u; e < 4u; e++) {
        elements.x[e] = x_element(outer + e * X_OUTER, extent, k + e * (1u - X_OUTER));
        elements.y[e] = x_element(outer + (e + 4u) * X_OUTER, extent, k + (e + 4u) * (1u - X_OUTER));
    }
    return elements;
}
