//! Stores a vector of QUADS quads of operand x: its first `count` elements, all of them if `count` is larger. `at` counts quads.

fn save_vector_x(at: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    if count >= 4u * QUADS {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            save_quad_x(at + k, v[k]);
        }
    } else {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            if count > 4u * k { save_first_x(at + k, count - 4u * k, v[k]); }
        }
    }
}
