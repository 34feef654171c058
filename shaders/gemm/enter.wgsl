//! `enter(pair)` for operands that are stored.

// Selects a pair. Every split of a matrix has a matrix of sums of its own, after those of the previous splits.
fn enter(pair: u32) {
    let index = pair % dims.batches;
    let split = pair / dims.batches;
    matrices.index = index;
    let i = index / dims.batch1;
    let j = index % dims.batch1;
    matrices.a_offset = dims.a_offset + i * dims.a_batch0 + j * dims.a_batch1;
    matrices.b_offset = dims.b_offset + i * dims.b_batch0 + j * dims.b_batch1;
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + j * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + j * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}
