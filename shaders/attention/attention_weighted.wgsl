//! Adds rows of x, times weights, to the sums of ROWS rows: four that are `step` apart, or one. An invocation has the groups `own`,
//! `own + team_size()` and so on of a row, N of them. Elements past a row's end are added to sums that are not stored.

// Adds four rows of x to the sums of each row, times its weights. A row that is not kept may have any elements, even NaN.
fn add_x(
    sums: ptr<function, array<vec4<f32>, ROWS * N * QUADS>>,
    weights: array<vec4<f32>, ROWS>,
    kept: vec4<bool>,
    start: u32,
    step: u32,
    own: u32,
    length: u32,
) {
    //#unroll
    for (var h = 0u; h < N; h++) {
        let group = own + h * team_size();
        //#unroll
        for (var quad = 0u; quad < QUADS; quad++) {
            var elements: array<vec4<f32>, 4>;
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                elements[c] = x(start + c * step, group, quad, length);
                if KEEPS {
                    elements[c] = select(vec4<f32>(0.0), elements[c], vec4<bool>(kept[c]));
                }
            }
            //#unroll
            for (var r = 0u; r < ROWS; r++) {
                let low = weights[r].x * elements[0] + weights[r].y * elements[1];
                (*sums)[(r * N + h) * QUADS + quad] += low + (weights[r].z * elements[2] + weights[r].w * elements[3]);
            }
        }
    }
}

// Adds one row of x, times a weight, to the sums of row r.
fn add_one_x(
    sums: ptr<function, array<vec4<f32>, ROWS * N * QUADS>>,
    r: u32,
    weight: f32,
    start: u32,
    own: u32,
    length: u32,
) {
    //#unroll
    for (var h = 0u; h < N; h++) {
        let group = own + h * team_size();
        //#unroll
        for (var quad = 0u; quad < QUADS; quad++) {
            (*sums)[(r * N + h) * QUADS + quad] += weight * x(start, group, quad, length);
        }
    }
}
