//! Operand x in shared memory: BK rows of X_BLOCK elements along the outer axis, as vectors of four. The slot `tiled_load_x`
//! loads one vector per lane at a time. Consecutive lanes load along the axis that is contiguous in memory. Past the outer edge
//! the last elements are read again. They never contribute to a stored sum, so blocks at the edge run the same loop as others.
//!
//! Every lane writes whole vectors: on some back ends, writing a component of a shared vector is a read-modify-write, and two
//! lanes would race.

const X_LD: u32 = X_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const X_QUADS: u32 = X_BLOCK / 4u;
const X_SHARE: u32 = X_QUADS * BK / LANES; // vectors per lane
var<workgroup> x_tile: array<vec4<iteration_sum>, STAGES * BK * X_LD>;

// The indices of a vector within the block, along the outer axis and along k.
fn x_outer_of(vector: u32) -> u32 {
    return select(vector % X_QUADS, vector / BK, X_STAGE == STAGE_SCALAR_K) * 4u;
}

fn x_k_of(vector: u32) -> u32 {
    return select(vector / X_QUADS, vector % BK, X_STAGE == STAGE_SCALAR_K);
}

fn put_x(vector: u32, stage: u32, elements: vec4<f32>) {
    x_tile[(stage * BK + x_k_of(vector)) * X_LD + x_outer_of(vector) / 4u] = vec4<iteration_sum>(elements);
}

// The vector at these indices, with zeros past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> vec4<f32> {
    if k >= matrices.k_end {
        return vec4<f32>();
    }
    return x_vector(x_start(outer, extent, k), outer, extent);
}

// The place of a lane's vector at k = 0, computed once before the first iteration. If k is less than BK, no vector is loaded
// ahead and the place is not used; k is clamped so that its product with a stride does not wrap. With segments the place
// changes.
fn locate_x(outer0: u32, extent: u32, vector: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return x_start(outer0 + x_outer_of(vector), extent, min(x_k_of(vector), dims.k));
}

// A lane's vector of the block that starts at k0, from its place at k = 0. The block does not extend past k, but a segment may
// end within it.
fn fetch_x(start: u32, outer0: u32, extent: u32, k0: u32, vector: u32) -> vec4<f32> {
    if SEGMENTED {
        return edge_x(outer0 + x_outer_of(vector), extent, k0 + x_k_of(vector));
    }
    return x_ahead(start, outer0 + x_outer_of(vector), extent, k0);
}

// Stages a block that may extend past the end of k.
fn stage_x(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var vector = lane; vector < X_SHARE * LANES; vector += LANES) {
        put_x(vector, stage, edge_x(outer0 + x_outer_of(vector), extent, k0 + x_k_of(vector)));
    }
}
