//! What a lane will put of the next block of operand x sets out from device memory, zero past the end of k, in place of
//! `ahead_x`. Statements of `main`.

            //#unroll
            for (var v = 0u; v < X_SHARE; v++) {
                x_next[v] = edge_x(x_first + x_outer_of(lane + v * LANES), x_extent, next + x_k_of(lane + v * LANES));
            }
