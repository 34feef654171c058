//! Stores a subgroup tile that is within C as whole cooperative matrices: `store_whole(acc, row, col)`, at this row and column
//! of C. `WHOLE` says whether the plan uses such stores.

//#variant matrices
// f32 sums without an epilogue.
const WHOLE: bool = true;

fn store_whole(acc: ptr<function, array<array<mat_c, COLS>, ROWS>>, row: u32, col: u32) {
    let ld = dims.ldc;
    //#unroll
    for (var i = 0u; i < ROWS; i++) {
        //#unroll
        for (var j = 0u; j < COLS; j++) {
            let sums = (*acc)[i][j];
            let at = matrices.c_offset + (row + i * FRAGMENT) * ld + col + j * FRAGMENT;
            coopStoreT(sums, &c[at], ld);
        }
    }
}

//#variant none
// Never: C has another type, or there is an epilogue.
const WHOLE: bool = false;

fn store_whole(acc: ptr<function, array<array<mat_c, COLS>, ROWS>>, row: u32, col: u32) {}
