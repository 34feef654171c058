//! A function of multivectors that has parameters for each feature, or its gradients: text that plans make from an
//! algebra's table, for `main` of `clifford/features`.
//!
//! - `Parameters`: those of a feature, as the function needs them.
//! - `parameters_of(feature)` loads them.
//! - `row_results(row, feature, plane, p, sums)` stores the result of a feature of a row, whose blades lie `plane` elements
//!   apart; of gradients it adds what the row hands back to each parameter.
//! - `store_sums(unit, sums)` stores those sums, of the feature and strip of an invocation.

//#variant sample
// Scalars times a parameter, which stands here for what plans make.
struct Parameters {
    a0: f32,
}

fn parameters_of(feature: u32) -> Parameters {
    return Parameters(load_a(dims.a.z + feature * dims.a.x));
}

fn row_results(row: u32, feature: u32, plane: u32, p: Parameters, sums: ptr<function, array<f32, SUMS>>) {
    let x_1 = load_x(dims.x.w + row * dims.x.y + feature * dims.x.z);
    store_element(row * dims.features + feature, x_1 * p.a0);
}

fn store_sums(unit: u32, sums: ptr<function, array<f32, SUMS>>) {
}
