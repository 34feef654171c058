//! Stores sums where B is long: neighbours along its outer axis are neighbours in a row of C. Statements of `main`.

        //#unroll
        for (var t = 0u; t < THIN; t++) {
            //#unroll
            for (var q = 0u; q < QUADS; q++) {
                store_c(t, outer0 + q * LANES_L * 4u, acc[t][q]);
            }
        }
