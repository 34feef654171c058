//! The sizes of a matrix product, in elements: `dims`, and `enter(part)`, which goes to one part of all and says in
//! `matrices` where its operands and its sums lie. Outer is the axis that the product keeps: m for A, n for B. Matrices
//! of a batch lie along two axes, 0 and 1; an operand that is repeated along one has stride 0 there.

// The matrices of a batch that a workgroup works on: their first elements in their bindings.
struct Matrices {
    a_offset: u32,
    b_offset: u32,
    c_offset: u32,
    residual_offset: u32,
    index: u32, // of the matrix in its batch
    k_end: u32, // where the part of k ends
}

var<private> matrices: Matrices;

//#variant product
// Both operands lie in memory.
struct Dims {
    m: u32,
    n: u32,
    k: u32,
    k_per_split: u32,   // of k that a workgroup sums: all of it, or a multiple of 32
    batches: u32,  // matrices, of which
    batch1: u32,   // lie along axis 1
    splits: u32,   // parts of k, each summed into a matrix of its own; 1 if k is whole
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
    bias_row: u32, // stride of the bias along m; along n
    bias_col: u32,
    bias_offset: u32,
    residual_row: u32,
    residual_col: u32,
    residual_offset: u32,
    residual_batch0: u32,
    residual_batch1: u32,
    scaled_row: u32, // elements of a row of A and of a column of B, where those are scaled
}

// Goes to one part of all: every part of k of a matrix has a matrix of sums of its own, behind those of the parts before.
fn enter(part: u32) {
    let matrix = part % dims.batches;
    let split = part / dims.batches;
    matrices.index = matrix;
    let i = matrix / dims.batch1;
    let j = matrix % dims.batch1;
    matrices.a_offset = dims.a_offset + i * dims.a_batch0 + j * dims.a_batch1;
    matrices.b_offset = dims.b_offset + i * dims.b_batch0 + j * dims.b_batch1;
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + j * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + j * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}

//#variant seeded_a
// A is made from a seed, and has no batch.
struct Dims {
    m: u32,
    n: u32,
    k: u32,
    k_per_split: u32,   // of k that a workgroup sums: all of it, or a multiple of 32
    batches: u32,  // matrices, of which
    batch1: u32,   // lie along axis 1
    splits: u32,   // parts of k, each summed into a matrix of its own; 1 if k is whole
    a_outer: u32,  // stride of A along m
    a_k: u32,      // stride of A along k
    a_offset: u32, // first element of A in its binding
    seed_low: u32,
    seed_high: u32,
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
    bias_row: u32, // stride of the bias along m; along n
    bias_col: u32,
    bias_offset: u32,
    residual_row: u32,
    residual_col: u32,
    residual_offset: u32,
    residual_batch0: u32,
    residual_batch1: u32,
    scaled_row: u32, // elements of a row of A and of a column of B, where those are scaled
}

// Goes to one part of all: every part of k of a matrix has a matrix of sums of its own, behind those of the parts before.
fn enter(part: u32) {
    let matrix = part % dims.batches;
    let split = part / dims.batches;
    matrices.index = matrix;
    let i = matrix / dims.batch1;
    let j = matrix % dims.batch1;
    matrices.a_offset = dims.a_offset;
    matrices.b_offset = dims.b_offset + i * dims.b_batch0 + j * dims.b_batch1;
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + j * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + j * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}

//#variant seeded_b
// B, or half of it, is made from a seed, and has no batch.
struct Dims {
    m: u32,
    n: u32,
    k: u32,
    k_per_split: u32,   // of k that a workgroup sums: all of it, or a multiple of 32
    batches: u32,  // matrices, of which
    batch1: u32,   // lie along axis 1
    splits: u32,   // parts of k, each summed into a matrix of its own; 1 if k is whole
    a_outer: u32,  // stride of A along m
    a_k: u32,      // stride of A along k
    a_offset: u32, // first element of A in its binding
    a_batch0: u32,
    a_batch1: u32,
    b_outer: u32,  // stride of B along n
    b_k: u32,      // stride of B along k
    b_offset: u32,
    seed_low: u32,
    seed_high: u32,
    ldc: u32,      // stride of C along m; along n it is 1
    c_offset: u32,
    c_batch0: u32,
    c_batch1: u32,
    alpha: f32,
    beta: f32,
    bias_row: u32, // stride of the bias along m; along n
    bias_col: u32,
    bias_offset: u32,
    residual_row: u32,
    residual_col: u32,
    residual_offset: u32,
    residual_batch0: u32,
    residual_batch1: u32,
    scaled_row: u32, // elements of a row of A and of a column of B, where those are scaled
}

// Goes to one part of all: every part of k of a matrix has a matrix of sums of its own, behind those of the parts before.
fn enter(part: u32) {
    let matrix = part % dims.batches;
    let split = part / dims.batches;
    matrices.index = matrix;
    let i = matrix / dims.batch1;
    let j = matrix % dims.batch1;
    matrices.a_offset = dims.a_offset + i * dims.a_batch0 + j * dims.a_batch1;
    matrices.b_offset = dims.b_offset;
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + j * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + j * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}

//#variant segments
// Both operands have other planes in each segment of k: `enter_segment` says where those lie.
struct Dims {
    m: u32,
    n: u32,
    k: u32,              // of the matrix that has most segments, each filled up
    k_per_split: u32,         // of k that a workgroup sums: all of it, or a multiple of 32
    batches: u32,        // matrices
    splits: u32,         // parts of k, each summed into a matrix of its own; 1 if k is whole
    segment_step: u32,   // from segment to segment along k: a multiple of 32
    segment_length: u32, // of k that a segment has before it is filled up
    a_outer: u32,
    a_k: u32,
    a_offset: u32,       // first element of the first plane in its binding
    a_plane: u32,        // stride of planes
    b_outer: u32,
    b_k: u32,
    b_offset: u32,
    b_plane: u32,
    y_outer: u32,        // of the operand by which A's planes are multiplied, where A is made of products
    y_k: u32,
    y_offset: u32,
    y_plane: u32,
    gates_outer: u32,    // of the plane by which these products are multiplied, if there is one
    gates_k: u32,
    ldc: u32,            // stride of C along m; along n it is 1
    reserved: u32,
}

// Goes to one part of all: matrices lie one behind another, those of a part of k behind those of the parts before.
fn enter(part: u32) {
    matrices.index = part % dims.batches;
    matrices.c_offset = part * dims.m * dims.n;
}
