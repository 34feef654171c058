//! What multivectors over the mean norm of their row are, or the gradients of that: text that plans make from an algebra's
//! table, for `main` of `clifford/mean`.
//!
//! - `feature_sums(row, feature)`: what a feature adds to the sums of its row, its norm and, of gradients, a (g, x).
//! - `feature_results(row, feature, plane, mean, total)` stores a feature's result by the mean of the row's norms and those
//!   sums; blades of results lie `plane` elements apart.

//#variant sample
// Scalars, which stand here for what plans make.
fn feature_sums(row: u32, feature: u32) -> vec2<f32> {
    let x_1 = load_x(dims.x.w + row * dims.x.y + feature * dims.x.z);
    return vec2<f32>(norm_of(x_1 * x_1), 0.0);
}

fn feature_results(row: u32, feature: u32, plane: u32, mean: f32, total: vec2<f32>) {
    let x_1 = load_x(dims.x.w + row * dims.x.y + feature * dims.x.z);
    store_element(row * dims.features + feature, load_a(dims.a.z + feature * dims.a.x) / mean * x_1);
}
