//! What a lane has loaded ahead goes into shared memory. Statements of `main`.

            //#unroll
            for (var v = 0u; v < A_SHARE; v++) {
                put_a(lane + v * LANES, stage, a_next[v]);
            }
            //#unroll
            for (var v = 0u; v < B_SHARE; v++) {
                put_b(lane + v * LANES, stage, b_next[v]);
            }
