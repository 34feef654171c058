//! Stores the patch of a subgroup that lies wholly within C as the cooperative matrices that it is held in:
//! `store_whole(acc, row, col)`, from this row and column of C on. `WHOLE` says whether a plan stores so at all.

//#variant matrices
// Sums in f32, as they are.
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
// Never: C is of another type, or something becomes of sums on the way.
const WHOLE: bool = false;

fn store_whole(acc: ptr<function, array<array<mat_c, COLS>, ROWS>>, row: u32, col: u32) {}
