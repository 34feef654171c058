//! Products of cooperative matrices in registers, to measure the peak rate of a device.
//!
//! shapes    AB (3 * FRAGMENT, FRAGMENT): a matrix A, then two matrices B -> C (m, FRAGMENT): per workgroup the sums of `iterations` products with each B
//! grid      one workgroup per SUMS * FRAGMENT rows of C
//! subgroup  a workgroup is one
//! requires  f16; cooperative matrices of FRAGMENT cubed, (f16, f16) -> f32; subgroups of LANES and no other size
//! edges     workgroups past the end return; m is a multiple of SUMS * FRAGMENT

//#slot dims default immediate

//#param  set by MatrixPeakProblem::kernel; these defaults are a legal tile
alias mat_a = coop_mat16x16<f16, A>;
alias mat_b = coop_mat16x16<f16, B>;
alias mat_c = coop_mat16x16<f32, C>;
const FRAGMENT: u32 = 16u;
const LANES: u32 = 32u;
//#end
alias c_unit = f32;
const SUMS: u32 = 2u;
const QUADS: u32 = FRAGMENT / 4u; // vectors in a row of A and B

@group(0) @binding(0) var<storage, read> ab: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    // NOTE: this is not in a function, because naga treats function results as non-uniform.
    let index = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
    if index >= dims.m / (SUMS * FRAGMENT) {
        return;
    }
    let row0 = index * SUMS * FRAGMENT;
    var a: mat_a = coopLoadT<mat_a>(&ab[0], QUADS);
    var b0: mat_b = coopLoadT<mat_b>(&ab[FRAGMENT * QUADS], QUADS);
    var b1: mat_b = coopLoadT<mat_b>(&ab[2u * FRAGMENT * QUADS], QUADS);
    // Two independent sums.
    var acc: array<mat_c, SUMS>;
    acc[0] = mat_c();
    acc[1] = mat_c();
    for (var iteration = 0u; iteration < dims.iterations; iteration++) {
        acc[0] = coopMultiplyAdd(a, b0, acc[0]);
        acc[1] = coopMultiplyAdd(a, b1, acc[1]);
    }
    let ldc = FRAGMENT;
    let first = acc[0];
    let first_at = row0 * FRAGMENT;
    coopStoreT(first, &c[first_at], ldc);
    let second = acc[1];
    let second_at = first_at + FRAGMENT * FRAGMENT;
    coopStoreT(second, &c[second_at], ldc);
}
