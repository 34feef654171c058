//! Operand x of a product on cooperative matrices, in shared memory. A unit runs along the outer axis (X_OUTER = 1) or along k,
//! as in device memory. Rows of shared memory run along the outer axis (X_SHARED_OUTER = 1) or along k.

const X_ROW: u32 = X_BLOCK * X_SHARED_OUTER + BK * (1u - X_SHARED_OUTER);
const X_ROWS: u32 = BK * X_SHARED_OUTER + X_BLOCK * (1u - X_SHARED_OUTER);
const X_LD: u32 = X_ROW / 4u + 2u; // NOTE: an odd number of units, so that the rows of a matrix are in different banks
const X_STAGE: u32 = X_ROWS * X_LD;
const X_SHARE: u32 = X_BLOCK * BK / (8u * LANES); // units per lane
const X_PUT: u32 = 1u + X_OUTER - X_SHARED_OUTER; // units of one put of a lane, neighbours along k
// The distances between neighbouring matrices along the outer axis and along k.
const X_NEXT_OUTER: u32 = FRAGMENT / 4u * (X_SHARED_OUTER + 4u * X_LD * (1u - X_SHARED_OUTER));
const X_NEXT_K: u32 = FRAGMENT / 4u * (1u - X_SHARED_OUTER + 4u * X_LD * X_SHARED_OUTER);
var<workgroup> x_tile: array<vec4<f16>, STAGES * X_STAGE>;

//#slot coop_put x=x default in_order

// The place in shared memory of the elements at these indices of the block, in the first stage.
fn x_place(outer: u32, k: u32) -> u32 {
    let row = k * X_SHARED_OUTER + outer * (1u - X_SHARED_OUTER);
    let col = outer * X_SHARED_OUTER + k * (1u - X_SHARED_OUTER);
    return row * X_LD + col / 4u;
}

// The place in shared memory of a lane's put `nth`, from the place of its first in the first stage. If one put per lane fills
// whole rows, the distance is a constant, and only the first place takes a register.
fn x_put_place(first: u32, stage: u32, lane: u32, nth: u32) -> u32 {
    if LANES % X_CYCLE == 0u {
        return first + stage * X_STAGE + nth * (LANES / X_CYCLE * X_CYCLE_ROWS * X_LD);
    }
    let put = lane + nth * LANES;
    return x_place(x_outer_of(put), x_k_of(put)) + stage * X_STAGE;
}

// The place in device memory of a lane's unit at k = 0, computed once before the first iteration: unit `nth` of a put. If k is
// less than BK, no unit is loaded ahead and the place is not used; k is clamped so that its product with a stride does not
// wrap. With segments the place changes.
fn locate_x(outer0: u32, extent: u32, put: u32, nth: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return x_start(outer0 + x_outer_of(put), extent, min(x_k_of(put) + nth, dims.k));
}

// A lane's unit of the block that starts at k0, from its place at k = 0. The block does not extend past k, but a segment may
// end within it.
fn fetch_x(start: u32, outer0: u32, extent: u32, k0: u32, put: u32, nth: u32) -> Unit {
    if SEGMENTED {
        return edge_x(outer0 + x_outer_of(put), extent, k0 + x_k_of(put) + nth);
    }
    return x_ahead(start, outer0 + x_outer_of(put), extent, k0);
}

// Stages a block that may extend past the end of k.
fn stage_x(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var put = lane; put < X_SHARE / X_PUT * LANES; put += LANES) {
        let outer = outer0 + x_outer_of(put);
        let k = k0 + x_k_of(put);
        let first = edge_x(outer, extent, k);
        var last = first;
        if X_PUT > 1u {
            last = edge_x(outer, extent, k + 1u);
        }
        put_x(x_place(x_outer_of(put), x_k_of(put)) + stage * X_STAGE, put, first, last);
    }
}
