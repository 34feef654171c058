// The dims of a product, and the block of C that a workgroup computes: BM x BN of one matrix, over one split of k.

const uint GROUP = 8; // rows of blocks

#ifdef SEGMENTS
// As the `Dims` of segments of gemm/gemm_dims.wgsl, and the first workgroup of this launch.
layout(push_constant, std430) uniform Dims {
    uint m;
    uint n;
    uint k;
    uint k_per_split;
    uint batches;
    uint splits;
    uint segment_step;
    uint segment_length;
    uint a_outer;
    uint a_k;
    uint a_offset;
    uint a_plane;
    uint b_outer;
    uint b_k;
    uint b_offset;
    uint b_plane;
    uint y_outer;
    uint y_k;
    uint y_offset;
    uint y_plane;
    uint gates_outer;
    uint gates_k;
    uint ldc;
    uint reserved;
    uint first_block;
} dims;

uint k_extent(uint matrix);

uint matrix; // of this workgroup
#else
// As the quantised `Dims` of gemm/gemm_dims.wgsl, and the first workgroup of this launch.
layout(push_constant, std430) uniform Dims {
    uint m;
    uint n;
    uint k;
    uint k_per_split;
    uint batches;
    uint batch1;
    uint splits;
    uint a_outer;
    uint a_k;
    uint a_offset;
    uint a_batch0;
    uint a_batch1;
    uint b_outer;
    uint b_k;
    uint b_offset;
    uint b_batch0;
    uint b_batch1;
    uint ldc;
    uint c_offset;
    uint c_batch0;
    uint c_batch1;
    float alpha;
    float beta;
    uint bias_row;
    uint bias_col;
    uint bias_offset;
    uint residual_row;
    uint residual_col;
    uint residual_offset;
    uint residual_batch0;
    uint residual_batch1;
    uint out_scale;
    uint row_scale_step;
    uint row_scale_offset;
    uint column_scale_step;
    uint column_scale_offset;
#ifdef WINDOWS
    // As in gemm/windows.wgsl; a_batch0 and a_batch1 are the strides of images and lines, b_batch0 and b_batch1 those of B's taps.
    uint height;
    uint width;
    uint channels;
    uint windows_down;
    uint windows_across;
    uint step_down;
    uint step_across;
    uint taps_across;
    int dilation_down;
    int dilation_across;
    int before_down;
    int before_across;
    float per_channel;
    float per_tap;
    float per_down;
    float per_across;
    uint plane_stride;
    uint b_tap_plane;
    uint depth;
    uint windows_deep;
    uint taps_down;
    uint deep_steps;
    int before_deep;
    uint group_stride;
#endif
    uint first_block;
} dims;
#endif

// The first elements of this workgroup's matrices.
uint a_first;
uint b_first;
uint c_first;
uint residual_first;
#ifdef WINDOWS
uint first_column; // among those of all groups
uint first_window; // of this workgroup's matrix
#endif

// A workgroup's rows and columns of C begin at `row0` and `col0`; it sums products from `k_begin` to `k_end`.
struct Block {
    uint row0;
    uint col0;
    uint k_begin;
    uint k_end;
};

// The number of blocks of all matrices and splits.
uint count_blocks() {
    return (dims.m + BM - 1) / BM * ((dims.n + BN - 1) / BN) * dims.batches * dims.splits;
}

// The index of this workgroup's block, which may be past the last one.
uint block_index() {
    return dims.first_block + gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

// The block of this index; finds its matrices.
//
// The order of blocks: GROUP rows of blocks at a time, column by column, so that concurrent blocks share operands in the cache; then the
// next matrix of the batch, then the next split.
Block block_at(uint index) {
    const uint rows = (dims.m + BM - 1) / BM;
    const uint cols = (dims.n + BN - 1) / BN;
    const uint pair = index / (rows * cols);
    const uint at = index % (rows * cols);
    const uint first = at / (GROUP * cols) * GROUP;
    const uint height = min(GROUP, rows - first);
    const uint within = at - first * cols;
    // Every split of a matrix has a matrix of sums of its own, after those of the previous splits.
    const uint split = pair / dims.batches;
    const uint k_begin = split * dims.k_per_split;
#ifdef SEGMENTS
    matrix = pair % dims.batches;
    c_first = pair * dims.m * dims.n;
    const uint k_end = k_extent(matrix);
#else
    const uint batch0 = pair % dims.batches / dims.batch1;
    const uint batch1 = pair % dims.batches % dims.batch1;
#ifdef WINDOWS
    const uint group = GROUPS == 1 ? batch1 : 0;
    // The strides of an image are in the places of A's, and those of taps in the places of B's.
    a_first = dims.a_offset + group * (B_READS == 2 ? dims.group_stride : dims.channels * dims.a_k);
    b_first = dims.b_offset + group * (B_READS == 2 ? dims.channels * dims.b_outer : dims.group_stride);
    first_column = group * dims.n;
    first_window = (GROUPS == 1 ? batch0 : pair % dims.batches) * dims.m;
#elif defined(SIGNS)
    a_first = dims.a_offset + batch0 * dims.a_batch0 + batch1 * dims.a_batch1;
    b_first = dims.b_offset; // the words of the seed are in the places of B's strides
#else
    a_first = dims.a_offset + batch0 * dims.a_batch0 + batch1 * dims.a_batch1;
    b_first = dims.b_offset + batch0 * dims.b_batch0 + batch1 * dims.b_batch1;
#endif
    c_first = dims.c_offset + batch0 * dims.c_batch0 + batch1 * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    residual_first = dims.residual_offset + batch0 * dims.residual_batch0 + batch1 * dims.residual_batch1;
    const uint k_end = dims.k;
#endif
    return Block((first + within % height) * BM, within / height * BN, k_begin, min(k_end, k_begin + dims.k_per_split));
}
