//! Multivectors divided by the mean norm of their row's features, or the gradients; code generated from the algebra.
//!
//! shapes    C (blades, rows, features), contiguous; X, and in gradients G, likewise with any strides; A (features); D (rows, features) in f32
//! grid      one workgroup of LANES per row
//! subgroup  not used: the lanes of a row add their sums in shared memory, in a fixed order
//! requires  LANES pairs of sums in shared memory
//! edges     workgroups past the end return; lanes loop over features: any rows, features >= 1

//#import per_feature
//#import block
//#slot pack_pair default f16

//#param  set by FeaturesProblem::kernel; these defaults are a legal kernel
alias c_unit = f32;
alias sum = f32; // type of a result before it is stored
const LANES: u32 = 64u;
//#end
const_assert 0u == (LANES & (LANES - 1u));

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#generated operands
// The operands, from binding 1 on: X, in gradients G, and the parameter A. Each has an alias `x_unit` and a function
// `load_x(at)`, where `at` counts elements. In gradients, the last is D in f32, the parameters' gradients. Plans
// generate the declarations.

//#slot save x=c default element

//#generated mean_terms
// The results or the gradients, which plans generate from the algebra's table:
// - `feature_sums(row, feature)`: the terms of a feature in the sums of its row: its norm and, in gradients, a (g, x).
// - `feature_results(row, feature, plane, mean, total)` stores a feature's result from the mean of the row's norms and
//   those sums; blades of results are `plane` elements apart.
//
//     fn feature_sums(row: u32, feature: u32) -> vec2<f32>
//     fn feature_results(row: u32, feature: u32, plane: u32, mean: f32, total: vec2<f32>)

var<workgroup> parts: array<vec2<f32>, LANES>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let row = block_index(workgroup, grid);
    if row >= dims.units {
        return;
    }
    let plane = dims.rows * dims.features;
    var sums = vec2<f32>(0.0);
    for (var feature = lane; feature < dims.features; feature += LANES) {
        sums += feature_sums(row, feature);
    }
    parts[lane] = sums;
    workgroupBarrier();
    for (var width = LANES / 2u; width > 0u; width /= 2u) {
        if lane < width { parts[lane] += parts[lane + width]; }
        workgroupBarrier();
    }
    let total = parts[0];
    let mean = total.x / f32(dims.features) + 1e-6;
    for (var feature = lane; feature < dims.features; feature += LANES) {
        feature_results(row, feature, plane, mean, total);
    }
}
