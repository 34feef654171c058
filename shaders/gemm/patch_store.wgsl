//! Stores the patch that an invocation holds, piece by piece. Statements of `main`.

    //#unroll
    for (var i = 0u; i < TM / 4u; i++) {
        let row = row0 + (i * LANES_M + lane_m) * 4u;
        //#unroll
        for (var j = 0u; j < TN / 4u; j++) {
            let col = col0 + (j * LANES_N + lane_n) * 4u;
            //#unroll
            for (var r = 0u; r < 4u; r++) {
                store_c(row + r, col, acc[i * 4u + r][j]);
            }
        }
    }
