//! Operand x of a product on cooperative matrices, in shared memory: rows of units along the outer axis (X_OUTER = 1)
//! or along k, as it lies in device memory, so that nothing is transposed on the way.

const X_ROW: u32 = X_BLOCK * X_OUTER + BK * (1u - X_OUTER);
const X_ROWS: u32 = BK * X_OUTER + X_BLOCK * (1u - X_OUTER);
const X_LD: u32 = X_ROW / 4u + 2u; // NOTE: an odd number of units, so that the rows of a matrix lie in different banks
const X_SHARE: u32 = X_BLOCK * BK / (8u * LANES); // units of each lane
var<workgroup> x_tile: array<vec4<f16>, STAGES * X_ROWS * X_LD>;

// Where the block's unit lies along the outer axis and along k.
fn x_outer_of(unit: u32) -> u32 {
    return unit / (X_ROW / 8u) * (1u - X_OUTER) + unit % (X_ROW / 8u) * 8u * X_OUTER;
}

fn x_k_of(unit: u32) -> u32 {
    return unit / (X_ROW / 8u) * X_OUTER + unit % (X_ROW / 8u) * 8u * (1u - X_OUTER);
}

// Where the elements from this place of the block on lie.
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

// Where a lane's unit of a block lies at k = 0: worked out once, before the first step. Of fewer than BK of k none is
// loaded ahead, and what lies where is not asked: k is cut, so that no stride of it wraps. In segments it changes.
fn locate_x(outer0: u32, extent: u32, unit: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return x_start(outer0 + x_outer_of(unit), extent, min(x_k_of(unit), dims.k));
}

// A lane's unit of the block that k0 lies in front of, from where it lies at k = 0. The block ends before k does, but a
// segment may end within it.
fn fetch_x(start: u32, outer0: u32, extent: u32, k0: u32, unit: u32) -> Unit {
    if SEGMENTED {
        return edge_x(outer0 + x_outer_of(unit), extent, k0 + x_k_of(unit));
    }
    return x_ahead(start, outer0 + x_outer_of(unit), extent, k0);
}

// Stages a block that may reach past the end of k.
fn stage_x(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var unit = lane; unit < X_SHARE * LANES; unit += LANES) {
        put_x(unit, stage, edge_x(outer0 + x_outer_of(unit), extent, k0 + x_k_of(unit)));
    }
}
