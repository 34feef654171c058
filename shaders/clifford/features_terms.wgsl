//! Scalars times a parameter: what stands here for an algebra is made from its table.

let a0 = load_a(at_a);
for (var row = first; row < end; row++) {
    let at_x = dims.x.w + row * dims.x.y + feature * dims.x.z;
    let at_c = row * dims.features + feature;
    let x0 = load_x(at_x);
    store_element(at_c, x0 * a0);
}
