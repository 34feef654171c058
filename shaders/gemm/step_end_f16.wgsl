//! The end of a step with sums of its own: they are added to those of all steps. Statements of `main`.

        //#unroll
        for (var i = 0u; i < TM; i++) {
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                acc[i][j] += vec4<f32>(of_step[i][j]);
            }
        }
