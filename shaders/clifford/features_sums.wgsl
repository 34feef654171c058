//! What a feature adds to the sums of its row, of scalars: what stands here for an algebra is made from its table.

let at_x = dims.x.w + row * dims.x.y + feature * dims.x.z;
let x0 = load_x(at_x);
let q = x0 * x0;
sums += vec2<f32>(norm_of(q), 0.0);
