//! The block of C that a workgroup computes, from row0 and col0 on: GROUP rows of blocks at a time, column by column,
//! so that blocks that run together share operands in the cache. Statements of `main`, from `workgroup` and `grid`.
//!
//! NOTE: not functions, `block_index` neither: naga takes whatever a function returns for non-uniform, and cooperative
//! matrices and barriers want uniform control flow behind the return.

    const GROUP: u32 = 8u;
    let rows = (dims.m + BM - 1u) / BM;
    let cols = (dims.n + BN - 1u) / BN;
    let index = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
    if index >= rows * cols {
        return;
    }
    let first = index / (GROUP * cols) * GROUP;
    let height = min(GROUP, rows - first);
    let within = index - first * cols;
    let row0 = (first + within % height) * BM;
    let col0 = within / height * BN;
