//! Four rows of A at one k, from shared memory. A statement of `main`.

                let a_col = a_tile[(stage * BK + kk) * A_LD + i * LANES_M + lane_m];
