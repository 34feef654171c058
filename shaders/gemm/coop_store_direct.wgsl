//! A block of sums that lies wholly within C, in f32: matrices go to memory as they are. Statements of `main`.

    if row0 + BM <= dims.m && col0 + BN <= dims.n {
        let ld = dims.ldc;
        //#unroll
        for (var i = 0u; i < ROWS; i++) {
            //#unroll
            for (var j = 0u; j < COLS; j++) {
                let sums = acc[i][j];
                let at = matrices.c_offset + (row0 + patch_row + i * FRAGMENT) * ld + col0 + patch_col + j * FRAGMENT;
                coopStoreT(sums, &c[at], ld);
            }
        }
        return;
    }
