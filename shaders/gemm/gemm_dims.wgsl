//! The sizes of a matrix product, in elements: `dims`, and `enter(pair)`, which sets `matrices` to the places of the operands
//! and sums of one pair of a matrix and a split. The pair's index is split * batches + matrix. The outer axis is m for A and n
//! for B. The batch has two axes, 0 and 1; an operand that broadcasts along an axis has stride 0 there.

// The matrices that a workgroup works on: the places of their first elements in their bindings.
struct Matrices {
    a_offset: u32,
    b_offset: u32,
    c_offset: u32,
    residual_offset: u32,
    index: u32, // of the matrix in its batch
    k_end: u32, // end of the split
}

var<private> matrices: Matrices;

//#variant product
// Both operands are stored.
//#import enter

//#variant quantised
// Both operands are stored, rows and columns of sums have scales, and C may be i8.
//#import enter

//#variant seeded
// One operand, or half of B, is generated from a seed, and has no batch.

//#param  set by Uniform::bind
const A_IS_STORED: bool = false; // and B is generated
//#end

// Selects a pair. Every split of a matrix has a matrix of sums of its own, after those of the previous splits.
fn enter(pair: u32) {
    let index = pair % dims.batches;
    let split = pair / dims.batches;
    matrices.index = index;
    let i = index / dims.batch1;
    let j = index % dims.batch1;
    let moved = i * dims.stored_batch0 + j * dims.stored_batch1;
    matrices.a_offset = dims.a_offset + select(0u, moved, A_IS_STORED);
    matrices.b_offset = dims.b_offset + select(moved, 0u, A_IS_STORED);
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + j * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + j * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}

//#variant windows
// The rows of an operand are windows of an image: in several matrices of C, those of one after those of another.
fn first_window_of_matrix() -> u32 {
    return matrices.index * dims.m;
}

// Selects a pair. Every split of a matrix has a matrix of sums of its own, after those of the previous splits.
fn enter(pair: u32) {
    let index = pair % dims.batches;
    let split = pair / dims.batches;
    let i = index / dims.batch1;
    let j = index % dims.batch1;
    matrices.index = index;
    matrices.a_offset = dims.a_offset;
    matrices.b_offset = dims.b_offset;
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + j * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + j * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}

//#variant window_groups
// The rows of A are windows of an image. Each matrix along axis 1 of the batch has a group of the image's channels, and of B; in several
// matrices along axis 0, windows of one are after those of another.
fn first_window_of_matrix() -> u32 {
    return matrices.index / dims.batch1 * dims.m;
}

// Selects a pair. Every split of a matrix has a matrix of sums of its own, after those of the previous splits.
fn enter(pair: u32) {
    let index = pair % dims.batches;
    let split = pair / dims.batches;
    let i = index / dims.batch1;
    let group = index % dims.batch1;
    matrices.index = index;
    matrices.a_offset = dims.a_offset + group * dims.channels * dims.a_k;
    matrices.b_offset = dims.b_offset + group * dims.group_stride;
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + group * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + group * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}

//#variant window_row_groups
// The rows of B are windows of an image. Each matrix of the batch has a group of its channels, and of A.

// Selects a pair. Every split of a matrix has a matrix of sums of its own, after those of the previous splits.
fn enter(pair: u32) {
    let group = pair % dims.batches;
    let split = pair / dims.batches;
    matrices.index = group;
    matrices.a_offset = dims.a_offset + group * dims.group_stride;
    matrices.b_offset = dims.b_offset + group * dims.channels * dims.b_outer;
    matrices.c_offset = dims.c_offset + group * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}

//#variant segments
// The planes of both operands differ from segment to segment of k: `enter_segment` sets their places.

// Selects a pair. Matrices are stored one after another, those of a split after those of the previous splits.
fn enter(pair: u32) {
    matrices.index = pair % dims.batches;
    matrices.c_offset = pair * dims.m * dims.n;
}
