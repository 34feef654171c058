//! Four steps along k: what is long, times what is thin. Statements of `main`, from `ks` and which of them are `within`.

        var y: array<vec4<f32>, THIN>;
        //#unroll
        for (var t = 0u; t < THIN; t++) {
            y[t] = select(vec4<f32>(), thin_quad(t, ks), within);
        }
        //#unroll
        for (var q = 0u; q < QUADS; q++) {
            let x = long_quad(starts[q], ks);
            // NOTE: both are zero beyond the end: either may be NaN there.
            let x0 = select(vec4<f32>(), x[0], within.x);
            let x1 = select(vec4<f32>(), x[1], within.y);
            let x2 = select(vec4<f32>(), x[2], within.z);
            let x3 = select(vec4<f32>(), x[3], within.w);
            //#unroll
            for (var t = 0u; t < THIN; t++) {
                acc[t][q] = fma(x0, vec4<f32>(y[t].x), acc[t][q]);
                acc[t][q] = fma(x1, vec4<f32>(y[t].y), acc[t][q]);
                acc[t][q] = fma(x2, vec4<f32>(y[t].z), acc[t][q]);
                acc[t][q] = fma(x3, vec4<f32>(y[t].w), acc[t][q]);
            }
        }
