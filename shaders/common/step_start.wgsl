//! The start of a step: its blocks go into shared memory, and those of the next set out from device memory. The first
//! step, and one that reaches past the end of k, are not loaded ahead. Statements of `main`.

        if k0 > k_begin && k0 + BK <= k_end {
            //#import step_put
        } else {
            stage_a(row0, dims.m, k0, stage, lane);
            stage_b(col0, dims.n, k0, stage, lane);
        }
        // NOTE: with two stages no other barrier is needed: what is filled next was read before this one.
        workgroupBarrier();
        let next = k0 + BK;
        if next + BK <= k_end {
            //#unroll
            for (var v = 0u; v < A_SHARE; v++) {
                a_next[v] = a_ahead(a_from[v], row0 + a_outer_of(lane + v * LANES), dims.m, next);
            }
            //#unroll
            for (var v = 0u; v < B_SHARE; v++) {
                b_next[v] = b_ahead(b_from[v], col0 + b_outer_of(lane + v * LANES), dims.n, next);
            }
        }
