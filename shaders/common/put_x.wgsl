//! What a lane has loaded ahead of operand x goes into shared memory. Statements of `main`.

            //#unroll
            for (var v = 0u; v < X_SHARE; v++) {
                put_x(lane + v * LANES, stage, x_next[v]);
            }
