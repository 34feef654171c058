//! What is read of A before a step's products: subgroups of BK invocations share rows of A, so each reads them at
//! one k. Statements of `main`.

        // NOTE: eight neighbours are one subgroup: they have one lane_m.
        var a_held: array<vec4<step_sum>, TM / 4u>;
        //#unroll
        for (var i = 0u; i < TM / 4u; i++) {
            a_held[i] = a_tile[(stage * BK + lane % BK) * A_LD + i * LANES_M + lane_m];
        }
