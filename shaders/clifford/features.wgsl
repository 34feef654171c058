//! A function of multivectors with parameters for each feature, or its gradients; code generated from the algebra.
//!
//! shapes    C (blades, rows, features), contiguous; X, and in gradients G, likewise with any strides; A, and B if there are two parameters, (features, parts); D (strips, features, parameters) in f32
//! grid      one invocation per feature of a strip of rows, LANES per workgroup
//! subgroup  not used; consecutive invocations have consecutive features
//! requires  nothing
//! edges     invocations past the end return, the last strip may be shorter: any rows, features >= 1

//#import per_feature
//#import block
//#slot pack_pair default f16

//#param  set by FeaturesProblem::kernel; these defaults are a legal kernel
alias c_unit = f32;
alias sum = f32; // type of a result before it is stored
const LANES: u32 = 64u;
const SUMS: u32 = 1u; // parameters per feature, in gradients
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#generated operands
// The operands, from binding 1 on: X, in gradients G, the parameter A and, if there are two, B. Each has an alias
// `x_unit` and a function `load_x(at)`, where `at` counts elements. In gradients, the last is D in f32, the sums of the
// parameters' gradients. Plans generate the declarations.

//#slot save x=c default element
//#import math

//#generated features_terms
// The function or its gradients, which plans generate from the algebra's table:
// - `Parameters`: the parameters of a feature, preprocessed as the function needs them.
// - `parameters_of(feature)` loads them.
// - `row_results(row, feature, plane, p, sums)` stores the result of a feature of a row; blades are `plane` elements
//   apart. In gradients it also adds the row's gradient of each parameter to `sums`.
// - `store_sums(unit, sums)` stores those sums for the feature and strip of an invocation.
//
//     struct Parameters
//     fn parameters_of(feature: u32) -> Parameters
//     fn row_results(row: u32, feature: u32, plane: u32, p: Parameters, sums: ptr<function, array<f32, SUMS>>)
//     fn store_sums(unit: u32, sums: ptr<function, array<f32, SUMS>>)

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit >= dims.units {
        return;
    }
    let strip = unit / dims.features;
    let feature = unit - strip * dims.features;
    let first = strip * dims.strip;
    let end = min(first + dims.strip, dims.rows);
    let plane = dims.rows * dims.features;
    let parameters = parameters_of(feature);
    var sums: array<f32, SUMS>;
    for (var row = first; row < end; row++) {
        row_results(row, feature, plane, parameters, &sums);
    }
    store_sums(unit, &sums);
}
