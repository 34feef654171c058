//! What a lane will put of the next block of operand x sets out from device memory. Statements of `main`.

            //#unroll
            for (var v = 0u; v < X_SHARE; v++) {
                x_next[v] = x_ahead(x_from[v], x_first + x_outer_of(lane + v * LANES), x_extent, next);
            }
