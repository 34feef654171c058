//! What the product of two scalars hands back: what stands here for an algebra is made from its table.

let x0 = load_x(at_x);
let y0 = load_y(at_y);
let gates = gate(vec4<f32>(x0, y0, 0.0, 0.0));
let slopes = gate_slope(vec4<f32>(x0, y0, 0.0, 0.0));
let t0 = through[at];
let dx0 = t0 * y0 * gates.y;
let dy0 = t0 * x0 * gates.x;
save_u(at_u, fma(slopes.x * x0, dx0, gates.x * dx0));
save_v(at_u, fma(slopes.y * y0, dy0, gates.y * dy0));
