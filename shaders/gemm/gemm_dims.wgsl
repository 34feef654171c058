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
struct Dims {
    m: u32,
    n: u32,
    k: u32,
    k_per_split: u32, // length of a split of k: k, or a multiple of 32
    batches: u32,  // matrices of the batch
    batch1: u32,   // extent of its axis 1
    splits: u32,   // splits of k, each summed into a matrix of its own
    a_outer: u32,  // stride of A along m
    a_k: u32,      // stride of A along k
    a_offset: u32, // first element of A in its binding
    a_batch0: u32,
    a_batch1: u32,
    b_outer: u32,  // stride of B along n
    b_k: u32,      // stride of B along k
    b_offset: u32,
    b_batch0: u32,
    b_batch1: u32,
    ldc: u32,      // stride of C along m; along n it is 1
    c_offset: u32,
    c_batch0: u32,
    c_batch1: u32,
    alpha: f32,
    beta: f32,
    bias_row: u32, // strides of the bias along m and n
    bias_col: u32,
    bias_offset: u32,
    residual_row: u32,
    residual_col: u32,
    residual_offset: u32,
    residual_batch0: u32,
    residual_batch1: u32,
    scaled_row: u32, // length of a row of A and of a column of B, if they are scaled
}

//#import enter

//#variant quantised
// Both operands are stored, rows and columns of sums have scales, and C may be i8.
struct Dims {
    m: u32,
    n: u32,
    k: u32,
    k_per_split: u32, // length of a split of k: k, or a multiple of 32
    batches: u32,  // matrices of the batch
    batch1: u32,   // extent of its axis 1
    splits: u32,   // splits of k, each summed into a matrix of its own
    a_outer: u32,  // stride of A along m
    a_k: u32,      // stride of A along k
    a_offset: u32, // first element of A in its binding
    a_batch0: u32,
    a_batch1: u32,
    b_outer: u32,  // stride of B along n
    b_k: u32,      // stride of B along k
    b_offset: u32,
    b_batch0: u32,
    b_batch1: u32,
    ldc: u32,      // stride of C along m; along n it is 1
    c_offset: u32,
    c_batch0: u32,
    c_batch1: u32,
    alpha: f32,
    beta: f32,
    bias_row: u32, // strides of the bias along m and n
    bias_col: u32,
    bias_offset: u32,
    residual_row: u32,
    residual_col: u32,
    residual_offset: u32,
    residual_batch0: u32,
    residual_batch1: u32,
    out_scale: u32, // the bits of an f32: the divisor of results of i8
    row_scale_step: u32, // strides of the scales of rows and columns
    row_scale_offset: u32,
    column_scale_step: u32,
    column_scale_offset: u32,
}

//#import enter

//#variant seeded
// One operand, or half of B, is generated from a seed, and has no batch.
struct Dims {
    m: u32,
    n: u32,
    k: u32,
    k_per_split: u32, // length of a split of k: k, or a multiple of 32
    batches: u32,  // matrices of the batch
    batch1: u32,   // extent of its axis 1
    splits: u32,   // splits of k, each summed into a matrix of its own
    a_outer: u32,  // stride of A along m
    a_k: u32,      // stride of A along k
    a_offset: u32, // first element of A in its binding
    seed_low: u32, // the words of the seed, or their places in the tensor that holds it
    seed_high: u32,
    b_outer: u32,  // stride of B along n
    b_k: u32,      // stride of B along k
    b_offset: u32,
    stored_batch0: u32, // of the stored operand
    stored_batch1: u32,
    ldc: u32,      // stride of C along m; along n it is 1
    c_offset: u32,
    c_batch0: u32,
    c_batch1: u32,
    alpha: f32,
    beta: f32,
    bias_row: u32, // strides of the bias along m and n
    bias_col: u32,
    bias_offset: u32,
    residual_row: u32,
    residual_col: u32,
    residual_offset: u32,
    residual_batch0: u32,
    residual_batch1: u32,
    scaled_row: u32, // length of a row of A and of a column of B, if they are scaled
}

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

//#variant segments
// The planes of both operands differ from segment to segment of k: `enter_segment` sets their places.
struct Dims {
    m: u32,
    n: u32,
    k: u32,              // of the matrix with the most segments, including padding
    k_per_split: u32,    // length of a split of k: k, or a multiple of 32
    batches: u32,        // matrices
    splits: u32,         // splits of k, each summed into a matrix of its own
    segment_step: u32,   // distance between segments along k: a multiple of 32
    segment_length: u32, // length of a segment along k, without padding
    a_outer: u32,
    a_k: u32,
    a_offset: u32,       // first element of the first plane in its binding
    a_plane: u32,        // stride of planes
    b_outer: u32,
    b_k: u32,
    b_offset: u32,
    b_plane: u32,
    y_outer: u32,        // of the right factor of A's planes, if they are products
    y_k: u32,
    y_offset: u32,
    y_plane: u32,
    gates_outer: u32,    // of the plane of gates that multiplies these products, if there is one
    gates_k: u32,
    ldc: u32,            // stride of C along m; along n it is 1
    reserved: u32,
}

// Selects a pair. Matrices are stored one after another, those of a split after those of the previous splits.
fn enter(pair: u32) {
    matrices.index = pair % dims.batches;
    matrices.c_offset = pair * dims.m * dims.n;
}
