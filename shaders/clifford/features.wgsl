//! A function of multivectors that has parameters for each feature, or its gradients; its code is made from the algebra.
//!
//! shapes    C (blades, rows, features) without gaps; X, and G in gradients, likewise in any strides; A, and B where there are two, (features, parts); D (strips, features, parameters) in f32
//! grid      one invocation per feature of a strip of rows, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive features
//! requires  nothing
//! edges     invocations past the end leave, the last strip is cut: any rows, features >= 1

//#import features_dims
//#import block
//#slot pack_pair default f16

//#param  set by FeaturesProblem::kernel; these defaults are a legal kernel
alias c_unit = f32;
alias sum = f32; // what is stored, before it is
const LANES: u32 = 64u;
const SUMS: u32 = 1u; // of gradients, those of parameters that a feature has
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#slot features_operands default sample
//#slot store_element default plain
//#import math
//#import smooth_norm
//#slot features_terms default sample

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
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
