//! Stores an invocation's state of a row: `store_result(o, most, total, own, at, row, part)`, where o are sums of values, weighted
//! by exponentials of distances to the largest score `most`, and `total` is the sum of those exponentials.

//#variant whole
// The result, and the statistics for the backward pass. A row without keys is 0.
fn store_result(o: array<vec4<f32>, HELD_V * QUADS>, most: f32, total: f32, own: u32, at: u32, row: u32, part: u32) {
    let factor = select(1.0 / total, 0.0, total == 0.0);
    //#unroll
    for (var h = 0u; h < HELD_V; h++) {
        let group = own + h * team_size();
        if WHOLE || group * WIDTH < dims.dim_v {
            var v: array<vec4<f32>, QUADS>;
            //#unroll
            for (var quad = 0u; quad < QUADS; quad++) {
                v[quad] = o[h * QUADS + quad] * factor;
            }
            store_y(at, group, dims.dim_v - group * WIDTH, v);
        }
    }
    if own == 0u {
        store_lse(row, known_of(most, total));
    }
}

//#variant part
// The state of a part of the keys; a second step joins the parts of a row, which are neighbours. A part has the sums of values,
// then the largest score and the sum of exponentials.
fn store_result(o: array<vec4<f32>, HELD_V * QUADS>, most: f32, total: f32, own: u32, at: u32, row: u32, part: u32) {
    let start = (row * dims.parts + part) * (dims.dim_v + 2u);
    //#unroll
    for (var h = 0u; h < HELD_V; h++) {
        //#unroll
        for (var quad = 0u; quad < QUADS; quad++) {
            let first = (own + h * team_size()) * WIDTH + 4u * quad;
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                if first + c < dims.dim_v {
                    parts[start + first + c] = o[h * QUADS + quad][c];
                }
            }
        }
    }
    if own == 0u {
        parts[start + dims.dim_v] = most;
        parts[start + dims.dim_v + 1u] = total;
    }
}
