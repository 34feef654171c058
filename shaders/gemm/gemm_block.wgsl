//! The block of C that a workgroup computes, from row0 and col0 on, and the part of k that it sums: GROUP rows of blocks
//! at a time, column by column, so that blocks that run together share operands in the cache; then the next matrix of
//! the batch, then the next part of k. Statements of `main`, from `workgroup` and `grid`.
//!
//! NOTE: not functions, `block_index` neither: naga takes whatever a function returns for non-uniform, and cooperative
//! matrices and barriers want uniform control flow behind the return.

    const GROUP: u32 = 8u;
    let rows = (dims.m + BM - 1u) / BM;
    let cols = (dims.n + BN - 1u) / BN;
    let index = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
    if index >= rows * cols * dims.batches * dims.splits {
        return;
    }
    let part = index / (rows * cols);
    let block = index % (rows * cols);
    let first = block / (GROUP * cols) * GROUP;
    let height = min(GROUP, rows - first);
    let within = block - first * cols;
    let row0 = (first + within % height) * BM;
    let col0 = within / height * BN;
    let k_begin = part / dims.batches * dims.k_part;
    //#inline k_extent
    let k_end = min(k_extent, k_begin + dims.k_part);
    let a_first = row0;
    let b_first = col0;
    let a_extent = dims.m;
    let b_extent = dims.n;
    enter(part);
