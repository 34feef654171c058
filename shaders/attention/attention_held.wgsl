//! Loads ROWS rows of x, of which an invocation has the groups `own`, `own + team_size()` and so on, N of them. Elements past
//! a row's end are 0.

fn held_x(starts: array<u32, ROWS>, own: u32, length: u32) -> array<vec4<f32>, ROWS * N * QUADS> {
    var held: array<vec4<f32>, ROWS * N * QUADS>;
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        //#unroll
        for (var h = 0u; h < N; h++) {
            let group = own + h * team_size();
            //#unroll
            for (var quad = 0u; quad < QUADS; quad++) {
                held[(r * N + h) * QUADS + quad] = within(x(starts[r], group, quad, length), group, quad, length);
            }
        }
    }
    return held;
}
