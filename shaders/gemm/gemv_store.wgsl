//! Stores sums where A is long: a row of C has the sums of one of its rows. Statements of `main`.

        //#unroll
        for (var q = 0u; q < QUADS; q++) {
            //#unroll
            for (var r = 0u; r < 4u; r++) {
                //#unroll
                for (var s = 0u; s < STORES; s++) {
                    var v = vec4<f32>();
                    //#unroll
                    for (var t = 0u; t < THIN / STORES; t++) {
                        v[t] = acc[s * 4u + t][q][r];
                    }
                    store_c(outer0 + q * LANES_L * 4u + r, s * 4u, v);
                }
            }
        }
