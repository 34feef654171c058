//! Products of the rows that an invocation holds (`attention_held.wgsl`) with rows of x: four that are `step` apart, or one. The
//! invocation has the groups `own`, `own + team_size()` and so on of a row, N of them. Elements past a row's end count as 0.

// The products of each row that is held with four rows of x: of row r with row c at 4 r + c, to be summed up.
fn dots_x(held: ptr<function, array<vec4<f32>, ROWS * N * QUADS>>, start: u32, step: u32, own: u32, length: u32) -> array<vec4<f32>, 4u * ROWS> {
    var dots: array<vec4<f32>, 4u * ROWS>;
    //#unroll
    for (var h = 0u; h < N; h++) {
        let group = own + h * team_size();
        //#unroll
        for (var quad = 0u; quad < QUADS; quad++) {
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                let elements = within(x(start + c * step, group, quad, length), group, quad, length);
                //#unroll
                for (var r = 0u; r < ROWS; r++) {
                    dots[4u * r + c] += (*held)[(r * N + h) * QUADS + quad] * elements;
                }
            }
        }
    }
    return dots;
}

// The same with one row of x.
fn dot_x(held: ptr<function, array<vec4<f32>, ROWS * N * QUADS>>, start: u32, own: u32, length: u32) -> array<vec4<f32>, ROWS> {
    var dots: array<vec4<f32>, ROWS>;
    //#unroll
    for (var h = 0u; h < N; h++) {
        let group = own + h * team_size();
        //#unroll
        for (var quad = 0u; quad < QUADS; quad++) {
            let elements = within(x(start, group, quad, length), group, quad, length);
            //#unroll
            for (var r = 0u; r < ROWS; r++) {
                dots[r] += (*held)[(r * N + h) * QUADS + quad] * elements;
            }
        }
    }
    return dots;
}
