//! Operand x in shared memory: BK rows of X_BLOCK elements along the outer axis, as vectors of four. Each lane loads one chunk at
//! a time, by the slot `tiled_load_x`: a vector along the outer axis, or a square. Consecutive lanes load along the axis that is
//! contiguous in memory. Past the outer edge the last elements are read again. They never contribute to a stored sum, so blocks
//! at the edge run the same loop as others.
//!
//! Every lane writes whole vectors: on some back ends, writing a component of a shared vector is a read-modify-write, and two
//! lanes would race. So an operand that is contiguous along k is loaded in squares, which are transposed in registers.

const X_LD: u32 = X_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const X_QUADS: u32 = X_BLOCK / 4u;
const X_DEPTH: u32 = 1u + X_STAGE / STAGE_SQUARES * 3u; // vectors of a chunk, along k: four of a square
const X_CHUNKS: u32 = X_QUADS * BK / X_DEPTH;
const X_SHARE: u32 = (X_CHUNKS + LANES - 1u) / LANES; // chunks per lane
var<workgroup> x_tile: array<vec4<iteration_sum>, STAGES * BK * X_LD>;

// A chunk: its vectors along the outer axis, in the order of k.
alias x_elements = array<vec4<iteration_sum>, X_DEPTH>;

// Whether there is a chunk for a lane: there may be fewer squares than lanes.
fn is_chunk_x(chunk: u32) -> bool {
    return X_CHUNKS % LANES == 0u || chunk < X_CHUNKS;
}

// The indices of a chunk within the block, along the outer axis and along k. NOTE: eight consecutive lanes take two squares
// along k and four along the outer axis, so that they write to different banks.
fn x_outer_of(chunk: u32) -> u32 {
    if X_STAGE == STAGE_SQUARES {
        return (chunk / 2u % 4u + chunk / BK * 4u) * 4u;
    }
    return select(chunk % X_QUADS, chunk / BK, X_STAGE == STAGE_SCALAR_K) * 4u;
}

fn x_k_of(chunk: u32) -> u32 {
    if X_STAGE == STAGE_SQUARES {
        return (chunk % 2u + chunk / 8u % (BK / 8u) * 2u) * 4u;
    }
    return select(chunk / X_QUADS, chunk % BK, X_STAGE == STAGE_SCALAR_K);
}

fn put_x(chunk: u32, stage: u32, elements: x_elements) {
    let place = (stage * BK + x_k_of(chunk)) * X_LD + x_outer_of(chunk) / 4u;
    //#unroll
    for (var j = 0u; j < X_DEPTH; j++) {
        x_tile[place + j * X_LD] = elements[j];
    }
}

// The chunk at these indices, with zeros past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> x_elements {
    if k >= matrices.k_end {
        return x_elements();
    }
    var elements = x_chunk(x_start(outer, extent, k), outer, extent);
    //#unroll
    for (var j = 1u; j < X_DEPTH; j++) {
        elements[j] = select(vec4<iteration_sum>(), elements[j], k + j < matrices.k_end);
    }
    return elements;
}

// The place of a lane's chunk at k = 0, computed once before the first iteration. If k is less than BK, no chunk is loaded
// ahead and the place is not used; k is clamped so that its product with a stride does not wrap. With segments the place
// changes.
fn locate_x(outer0: u32, extent: u32, chunk: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return x_start(outer0 + x_outer_of(chunk), extent, min(x_k_of(chunk), dims.k));
}

// A lane's chunk of the block that starts at k0, from its place at k = 0. The block does not extend past k, but a segment may
// end within it.
fn fetch_x(start: u32, outer0: u32, extent: u32, k0: u32, chunk: u32) -> x_elements {
    if SEGMENTED {
        return edge_x(outer0 + x_outer_of(chunk), extent, k0 + x_k_of(chunk));
    }
    return x_ahead(start, outer0 + x_outer_of(chunk), extent, k0);
}

// Stages a block that may extend past the end of k.
fn stage_x(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var chunk = lane; chunk < X_CHUNKS; chunk += LANES) {
        put_x(chunk, stage, edge_x(outer0 + x_outer_of(chunk), extent, k0 + x_k_of(chunk)));
    }
}
