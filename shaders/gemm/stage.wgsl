//! Operand x in shared memory: BK rows of X_BLOCK elements along the outer axis, as vectors of four. Each lane loads one patch at
//! a time, by the slot `tiled_load_x`: a vector along the outer axis, or a square. Consecutive lanes load along the axis that is
//! contiguous in memory. Past the outer edge the last elements are read again. They never contribute to a stored sum, so blocks
//! at the edge run the same loop as others.
//!
//! Every lane writes whole vectors: on some back ends, writing a component of a shared vector is a read-modify-write, and two
//! lanes would race. So an operand that is contiguous along k is loaded in squares, which are transposed in registers.

const X_LD: u32 = X_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const X_QUADS: u32 = X_BLOCK / 4u;
const X_DEPTH: u32 = 1u + X_STAGE / STAGE_SQUARES * 3u; // vectors of a patch, along k: four of a square
const X_PATCHES: u32 = X_QUADS * BK / X_DEPTH;
const X_SHARE: u32 = (X_PATCHES + LANES - 1u) / LANES; // patches per lane
var<workgroup> x_tile: array<vec4<iteration_sum>, STAGES * BK * X_LD>;

// A patch: its vectors along the outer axis, in the order of k.
alias x_elements = array<vec4<f32>, X_DEPTH>;

// Whether there is a patch for a lane: there may be fewer squares than lanes.
fn is_patch_x(patch: u32) -> bool {
    return X_PATCHES % LANES == 0u || patch < X_PATCHES;
}

// The indices of a patch within the block, along the outer axis and along k. NOTE: eight consecutive lanes take two squares
// along k and four along the outer axis, so that they write to different banks.
fn x_outer_of(patch: u32) -> u32 {
    if X_STAGE == STAGE_SQUARES {
        return (patch / 2u % 4u + patch / BK * 4u) * 4u;
    }
    return select(patch % X_QUADS, patch / BK, X_STAGE == STAGE_SCALAR_K) * 4u;
}

fn x_k_of(patch: u32) -> u32 {
    if X_STAGE == STAGE_SQUARES {
        return (patch % 2u + patch / 8u % (BK / 8u) * 2u) * 4u;
    }
    return select(patch / X_QUADS, patch % BK, X_STAGE == STAGE_SCALAR_K);
}

fn put_x(patch: u32, stage: u32, elements: x_elements) {
    let place = (stage * BK + x_k_of(patch)) * X_LD + x_outer_of(patch) / 4u;
    //#unroll
    for (var j = 0u; j < X_DEPTH; j++) {
        x_tile[place + j * X_LD] = vec4<iteration_sum>(elements[j]);
    }
}

// The patch at these indices, with zeros past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> x_elements {
    if k >= matrices.k_end {
        return x_elements();
    }
    var elements = x_patch(x_start(outer, extent, k), outer, extent);
    //#unroll
    for (var j = 1u; j < X_DEPTH; j++) {
        elements[j] = select(vec4<f32>(), elements[j], k + j < matrices.k_end);
    }
    return elements;
}

// The place of a lane's patch at k = 0, computed once before the first iteration. If k is less than BK, no patch is loaded
// ahead and the place is not used; k is clamped so that its product with a stride does not wrap. With segments the place
// changes.
fn locate_x(outer0: u32, extent: u32, patch: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return x_start(outer0 + x_outer_of(patch), extent, min(x_k_of(patch), dims.k));
}

// A lane's patch of the block that starts at k0, from its place at k = 0. The block does not extend past k, but a segment may
// end within it.
fn fetch_x(start: u32, outer0: u32, extent: u32, k0: u32, patch: u32) -> x_elements {
    if SEGMENTED {
        return edge_x(outer0 + x_outer_of(patch), extent, k0 + x_k_of(patch));
    }
    return x_ahead(start, outer0 + x_outer_of(patch), extent, k0);
}

// Stages a block that may extend past the end of k.
fn stage_x(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var patch = lane; patch < X_PATCHES; patch += LANES) {
        put_x(patch, stage, edge_x(outer0 + x_outer_of(patch), extent, k0 + x_k_of(patch)));
    }
}
