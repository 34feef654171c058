//! Where a lane's shares of both operands lie at k = 0: worked out once, before the first step. Of fewer
//! than BK of k none is loaded ahead, and what lies where is not asked: k is cut, so that no stride of it wraps. Statements of
//! `main`.

    //#unroll
    for (var v = 0u; v < A_SHARE; v++) {
        a_from[v] = a_start(row0 + a_outer_of(lane + v * LANES), dims.m, min(a_k_of(lane + v * LANES), dims.k));
    }
    //#unroll
    for (var v = 0u; v < B_SHARE; v++) {
        b_from[v] = b_start(col0 + b_outer_of(lane + v * LANES), dims.n, min(b_k_of(lane + v * LANES), dims.k));
    }
