//! Where a lane's shares of both operands lie at k = 0: worked out once, before the first step. Statements of `main`.

    //#unroll
    for (var v = 0u; v < A_SHARE; v++) {
        a_from[v] = a_start(row0 + a_outer_of(lane + v * LANES), dims.m, a_k_of(lane + v * LANES));
    }
    //#unroll
    for (var v = 0u; v < B_SHARE; v++) {
        b_from[v] = b_start(col0 + b_outer_of(lane + v * LANES), dims.n, b_k_of(lane + v * LANES));
    }
