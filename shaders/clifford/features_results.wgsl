//! What becomes of a feature once the sums of its row are there, of scalars: what stands here for an algebra is made from
//! its table.

let at_x = dims.x.w + row * dims.x.y + feature * dims.x.z;
let at_c = row * dims.features + feature;
let x0 = load_x(at_x);
store_element(at_c, load_a(at_a) / mean * x0);
