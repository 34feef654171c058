//! The block of operand x goes into shared memory: what each lane has loaded ahead, if it has, else all of it now.
//! Statements of `main`.

        if ahead {
            //#unroll
            for (var v = 0u; v < X_SHARE; v++) {
                put_x(lane + v * LANES, stage, x_next[v]);
            }
        } else {
            stage_x(x_first, x_extent, k0, stage, lane);
        }
