//! What a fully connected product hands back to its operands: text that plans make from an algebra's table, for `main` of
//! `clifford/connected_back`.
//!
//! `hand_back(at, at_x, at_y, at_u)` does it for one position: `at` of T, `at_x` and `at_y` of the first blades of X and Y,
//! `at_u` of those of both results.

//#variant sample
// The product of two scalars, which stands here for what plans make.
fn hand_back(at: u32, at_x: u32, at_y: u32, at_u: u32) {
    let x_1 = load_x(at_x);
    let y_1 = load_y(at_y);
    let gates = gate(vec4<f32>(x_1, y_1, 0.0, 0.0));
    let slopes = gate_slope(vec4<f32>(x_1, y_1, 0.0, 0.0));
    let t0 = through[at];
    let dx_1 = t0 * y_1 * gates.y;
    let dy_1 = t0 * x_1 * gates.x;
    save_u(at_u, fma(slopes.x * x_1, dx_1, gates.x * dx_1));
    save_v(at_u, fma(slopes.y * y_1, dy_1, gates.y * dy_1));
}
