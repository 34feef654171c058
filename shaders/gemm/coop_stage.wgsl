//! Operand x of a product on cooperative matrices, in shared memory. Rows of units run along the outer axis (X_OUTER = 1) or
//! along k, in the order of device memory, so that nothing is transposed on the way.

const X_ROW: u32 = X_BLOCK * X_OUTER + BK * (1u - X_OUTER);
const X_ROWS: u32 = BK * X_OUTER + X_BLOCK * (1u - X_OUTER);
const X_LD: u32 = X_ROW / 4u + 2u; // NOTE: an odd number of units, so that the rows of a matrix are in different banks
const X_SHARE: u32 = X_BLOCK * BK / (8u * LANES); // units per lane
var<workgroup> x_tile: array<vec4<f16>, STAGES * X_ROWS * X_LD>;

// The indices of a unit within the block, along the outer axis and along k.
fn x_outer_of(unit: u32) -> u32 {
    return unit / (X_ROW / 8u) * (1u - X_OUTER) + unit % (X_ROW / 8u) * 8u * X_OUTER;
}

fn x_k_of(unit: u32) -> u32 {
    return unit / (X_ROW / 8u) * X_OUTER + unit % (X_ROW / 8u) * 8u * (1u - X_OUTER);
}

// The place in shared memory of the elements at these indices of the block.
fn x_place(stage: u32, outer: u32, k: u32) -> u32 {
    let row = k * X_OUTER + outer * (1u - X_OUTER);
    let col = outer * X_OUTER + k * (1u - X_OUTER);
    return (stage * X_ROWS + row) * X_LD + col / 4u;
}

fn put_x(unit: u32, stage: u32, elements: Unit) {
    let at = x_place(stage, x_outer_of(unit), x_k_of(unit));
    x_tile[at] = elements.x;
    x_tile[at + 1u] = elements.y;
}

// The place of a lane's unit at k = 0, computed once before the first iteration. If k is less than BK, no unit is loaded ahead
// and the place is not used; k is clamped so that its product with a stride does not wrap. With segments the place changes.
fn locate_x(outer0: u32, extent: u32, unit: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return x_start(outer0 + x_outer_of(unit), extent, min(x_k_of(unit), dims.k));
}

// A lane's unit of the block that starts at k0, from its place at k = 0. The block does not extend past k, but a segment may
// end within it.
fn fetch_x(start: u32, outer0: u32, extent: u32, k0: u32, unit: u32) -> Unit {
    if SEGMENTED {
        return edge_x(outer0 + x_outer_of(unit), extent, k0 + x_k_of(unit));
    }
    return x_ahead(start, outer0 + x_outer_of(unit), extent, k0);
}

// Stages a block that may extend past the end of k.
fn stage_x(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var unit = lane; unit < X_SHARE * LANES; unit += LANES) {
        put_x(unit, stage, edge_x(outer0 + x_outer_of(unit), extent, k0 + x_k_of(unit)));
    }
}
