//! Operand x in shared memory: BK rows of X_BLOCK elements along the outer axis, four to a vector, which is what a lane
//! moves at once: from `memory_x`. Lanes run along the axis that is contiguous in memory. Past the outer edge the last elements are read
//! again, which no sum that is stored has a part in: blocks at the edge run the same loop as those within.
//!
//! Every lane writes whole vectors: writing components of a shared vector is a read-modify-write on
//! some back ends, and two lanes would race.

const X_LD: u32 = X_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const X_QUADS: u32 = X_BLOCK / 4u;
const X_SHARE: u32 = X_QUADS * BK / LANES; // vectors of each lane
var<workgroup> x_tile: array<vec4<step_sum>, STAGES * BK * X_LD>;

// Where the block's vector lies along the outer axis and along k.
fn x_outer_of(vector: u32) -> u32 {
    return select(vector % X_QUADS, vector / BK, X_STAGE == STAGE_SCALAR_K) * 4u;
}

fn x_k_of(vector: u32) -> u32 {
    return select(vector / X_QUADS, vector % BK, X_STAGE == STAGE_SCALAR_K);
}

fn put_x(vector: u32, stage: u32, elements: vec4<f32>) {
    x_tile[(stage * BK + x_k_of(vector)) * X_LD + x_outer_of(vector) / 4u] = vec4<step_sum>(elements);
}

// The vector from these indices on, zero past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> vec4<f32> {
    if k >= matrices.k_end {
        return vec4<f32>();
    }
    return x_vector(x_start(outer, extent, k), outer, extent);
}

// Stages a block that may reach past the end of k.
fn stage_x(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var vector = lane; vector < X_SHARE * LANES; vector += LANES) {
        put_x(vector, stage, edge_x(outer0 + x_outer_of(vector), extent, k0 + x_k_of(vector)));
    }
}
